import type { AdapterSource } from '../../aggregator/source-adapter.ts';
import type { Names } from '../answers/organisation.ts';
import type { WooCategories } from './woo-categories.ts';

/** What every mapping of one reading uses. */
export interface MappingContext {
  readonly source: AdapterSource;
  /** Labels of the meeting's attributes; `undefined` when the organisation gives none. */
  readonly labels: Names | undefined;
  readonly gremia: Names;
  /** Base of the API, for the addresses of files. */
  readonly base: string;
  readonly now: Date;
  readonly categories: WooCategories;
}
