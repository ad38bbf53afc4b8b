/** Requests a delivery whole: written as one file, and judged by the rules of the statistics office. */

import { listsOf } from '../../../lib/exchange-model/mapping.ts';
import { isRecord, type JsonObject, valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { DeliveryCheck } from '../check/delivery-check.ts';
import type { CheckReport } from '../check/findings.ts';
import { writeWhole } from '../delivery-files.ts';
import { MessageStore } from '../message-store.ts';
import { type DeliveredPage, type RequestDeliveryOptions, requestDelivery } from './request-delivery.ts';

interface CollectOptions extends RequestDeliveryOptions {
  readonly out: string | undefined;
  readonly onPage?: (page: DeliveredPage) => void;
}

export interface Collected {
  readonly leveringen: number;
  readonly records: number;
  readonly zaken: number;
  readonly report: CheckReport;
}

/** @throws {RequesterError} at the first fault; errors of the file system */
export async function collectDelivery(options: CollectOptions): Promise<Collected> {
  const { model, out } = options;
  const {
    envelop: paths,
    levering: { teller },
  } = model.mapping;
  const lists = listsOf(model.mapping);
  const message = new MessageStore(model.mapping);
  const check = new DeliveryCheck({ model, now: new Date() });
  const total = { records: 0, zaken: 0 };
  let ofLevering = { records: 0, zaken: 0 };
  let envelop: JsonObject = {};
  const { leveringen } = message;
  const endLevering = (): void => {
    if (leveringen.length > 0) check.levering(leveringen.length - 1, leveringen.at(-1));
  };
  try {
    for await (const page of requestDelivery(options)) {
      options.onPage?.(page);
      const { gegevens } = page;
      if (leveringen.length === 0) envelop = withValueAt(gegevens, paths.leveringen, []);
      const ofPage = valueAt(gegevens, paths.leveringen);
      for (const [place, levering] of (Array.isArray(ofPage) ? ofPage.filter(isRecord) : []).entries()) {
        // With empty lists; numbering restarts at 1 on each page.
        const headAs = (number: number): JsonObject =>
          [...lists.values()].reduce(
            (head, path) => withValueAt(head, path, []),
            withValueAt(levering, teller, number),
          );
        // A levering that continues on the next page is one levering.
        const isContinued =
          place === 0 && JSON.stringify(headAs(leveringen.length)) === JSON.stringify(leveringen.at(-1));
        if (!isContinued) {
          endLevering();
          ofLevering = { records: 0, zaken: 0 };
          leveringen.push(headAs(leveringen.length + 1));
        }
        for (const [list, path] of lists) {
          const items = valueAt(levering, path);
          for (const item of Array.isArray(items) ? items : []) {
            check.item({ levering: leveringen.length - 1, list, nummer: ofLevering[list], value: item, fits: true });
            if (out !== undefined) message.add(leveringen.length - 1, list, JSON.stringify(item));
            ofLevering[list] += 1;
            total[list] += 1;
          }
        }
      }
    }
    endLevering();
    check.envelop(envelop);
    if (out !== undefined) await writeWhole(out, message.text(envelop));
    return { leveringen: leveringen.length, ...total, report: check.report() };
  } finally {
    message.close();
    check.close();
  }
}
