import { flag, setting } from '../../settings/kinds.ts';
import type { Config } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly pages: typeof settings.pages;
  }
}

export const settings = {
  pages: {
    isOn: setting('RAADSFEED_PAGES', flag, false, 'Serve council information as pages, with search, at `/raad`.'),
  },
};

export const isServed = ({ pages, server }: Config): boolean => pages.isOn && server.areas.includes('raadsfeed');
