import { HOME } from '../../raadsfeed/pages/context.ts';
import type { Config } from '../../settings/read-config.ts';

export const variables = async (): Promise<Record<string, string>> => ({ RAADSFEED_PAGES: 'true' });

export const next = ({ pages, server }: Config, baseUrl: string): string[] =>
  pages.isOn && server.areas.includes('raadsfeed') ? [`look at the council information: ${baseUrl}${HOME}`] : [];
