import type { Config } from '../../kernel/config/read-config.ts';
import type { Clock } from '../../kernel/time.ts';
import type { SourceAdapter } from '../aggregator/source-adapter.ts';
import { createNotubizAdapter } from './adapter.ts';
import type { CallTurns } from './client/call-turns.ts';
import { wooCategories } from './map/woo-categories.ts';

/**
 * The adapter as it is configured. One of them serves a whole process: see `createNotubizAdapter`.
 * @param turns what shares the limits of the supplier with other processes
 */
export function openNotubiz(
  { raadsfeed, server }: Pick<Config, 'raadsfeed' | 'server'>,
  clock: Clock,
  turns?: CallTurns,
): SourceAdapter {
  const { notubizUrl, notubizWooTypes, notubizWooRegisters } = raadsfeed;
  return createNotubizAdapter({
    clock,
    proxy: server,
    categories: wooCategories(notubizWooTypes, notubizWooRegisters),
    ...(turns === undefined ? {} : { turns }),
    ...(notubizUrl === undefined ? {} : { base: notubizUrl }),
  });
}
