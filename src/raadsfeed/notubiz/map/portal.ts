import type { AdapterSource } from '../../aggregator/source-adapter.ts';

/** The page of a meeting on the organisation's portal, when that is configured. */
export function meetingPage(source: AdapterSource, id: string): string | undefined {
  return page(source, `vergadering/${id}`);
}

/** The page of a document on the organisation's portal, when that is configured. */
export function documentPage(source: AdapterSource, id: string, version: number | undefined): string | undefined {
  return page(source, version === undefined ? `document/${id}` : `document/${id}/${version}`);
}

/** The page of a register item on the organisation's portal; register 0 stands for whichever it is in. */
export function registerItemPage(source: AdapterSource, id: string): string | undefined {
  return page(source, `modules/0/items/${id}`);
}

function page({ portaal }: AdapterSource, path: string): string | undefined {
  return portaal === undefined ? undefined : `${portaal.replace(/\/+$/, '')}/${path}`;
}
