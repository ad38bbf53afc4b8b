import type { AgendaItem } from '../answers/agenda-item.ts';

export interface PlacedItem {
  readonly item: AgendaItem;
  readonly parent: string | undefined;
}

export interface FlatAgenda {
  /** Items that may be published, each once, in the order of the agenda: an item before what is nested in it. */
  readonly shown: readonly PlacedItem[];
  /** Items that may not, and those that only hang on such items. */
  readonly hidden: readonly AgendaItem[];
}

/** Makes one list of a nested agenda. An item that comes twice counts once, with the parent that either place gives. */
export function flattenAgenda(items: readonly AgendaItem[]): FlatAgenda {
  const placed = new Map<string, PlacedItem>();
  const walk = (level: readonly AgendaItem[], nestedIn: string | undefined): void => {
    for (const item of level) {
      const known = placed.get(item.id);
      const parent = nestedIn ?? known?.parent ?? (item.parentId === item.id ? undefined : item.parentId);
      const hidden = item.hidden || known?.item.hidden === true;
      placed.set(item.id, { item: { ...(known?.item ?? item), hidden }, parent });
      walk(item.agendaItems, item.id);
    }
  };
  walk(items, undefined);
  const hidden = hiddenIds(placed);
  const all = [...placed.values()];
  return {
    shown: all
      .filter(({ item }) => !hidden.has(item.id))
      .map(({ item, parent }) => ({ item, parent: parent !== undefined && placed.has(parent) ? parent : undefined })),
    hidden: all.filter(({ item }) => hidden.has(item.id)).map(({ item }) => item),
  };
}

/** What is hidden, and what hangs on it. A parent is followed at most as far as there are items: they may go round. */
function hiddenIds(placed: ReadonlyMap<string, PlacedItem>): ReadonlySet<string> {
  const hidden = new Set([...placed.values()].filter(({ item }) => item.hidden).map(({ item }) => item.id));
  for (let before = -1; before !== hidden.size; ) {
    before = hidden.size;
    for (const { item, parent } of placed.values()) if (parent !== undefined && hidden.has(parent)) hidden.add(item.id);
  }
  return hidden;
}
