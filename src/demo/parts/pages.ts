import { HOME } from '../../raadsfeed/pages/context.ts';
import { isServed } from '../../raadsfeed/pages/settings.ts';
import type { Config } from '../../settings/read-config.ts';

export const variables = async (): Promise<Record<string, string>> => ({ RAADSFEED_PAGES: 'true' });

export const next = (config: Config, baseUrl: string): string[] =>
  isServed(config) ? [`look at the council information: ${baseUrl}${HOME}`] : [];
