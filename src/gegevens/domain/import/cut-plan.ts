import type { Mapping } from '../model/mapping.ts';

/** The lists whose items are read one by one. */
export type ItemList = 'records' | 'zaken';

/** What stands below a member that the cutter has business with. */
export interface PlanNode {
  readonly children: ReadonlyMap<string, PlanNode>;
  /** Set when the member is one of the lists. */
  readonly list: 'leveringen' | ItemList | undefined;
}

export interface CutPlan {
  readonly envelop: PlanNode;
  readonly levering: PlanNode;
}

interface Growing {
  readonly children: Map<string, Growing>;
  list: PlanNode['list'];
}

/** Where in a message the lists stand that are read item by item. */
export function cutPlan({ envelop, levering }: Mapping): CutPlan {
  const outer = grow();
  put(outer, envelop.leveringen, 'leveringen');
  const inner = grow();
  put(inner, levering.records, 'records');
  if (levering.zaken !== undefined) put(inner, levering.zaken.lijst, 'zaken');
  return { envelop: outer, levering: inner };
}

function grow(): Growing {
  return { children: new Map(), list: undefined };
}

function put(root: Growing, steps: readonly string[], list: PlanNode['list']): void {
  let node = root;
  for (const step of steps) {
    let child = node.children.get(step);
    if (child === undefined) {
      child = grow();
      node.children.set(step, child);
    }
    node = child;
  }
  node.list = list;
}
