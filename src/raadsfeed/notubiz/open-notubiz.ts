import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/read-config.ts';
import type { SourceAdapter } from '../aggregator/source-adapter.ts';
import { createNotubizAdapter } from './adapter.ts';
import { wooCategories } from './map/woo-categories.ts';

/** The adapter as it is configured. One of them serves a whole process: see `createNotubizAdapter`. */
export function openNotubiz({ raadsfeed }: Pick<Config, 'raadsfeed'>, clock: Clock): SourceAdapter {
  const { notubizUrl, notubizWooTypes, notubizWooRegisters } = raadsfeed;
  return createNotubizAdapter({
    clock,
    categories: wooCategories(notubizWooTypes, notubizWooRegisters),
    ...(notubizUrl === undefined ? {} : { base: notubizUrl }),
  });
}
