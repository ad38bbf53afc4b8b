import { flag, setting } from '../../settings/kinds.ts';
import type { Config } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly diwoo: typeof settings.diwoo;
  }
}

export const settings = {
  diwoo: {
    isOn: setting(
      'RAADSFEED_DIWOO',
      flag,
      false,
      'Offer documents to the national index (DiWoo): sitemaps at `/woo`, named in `/robots.txt`.',
    ),
  },
};

export const isServed = ({ diwoo, server }: Config): boolean => diwoo.isOn && server.areas.includes('raadsfeed');
