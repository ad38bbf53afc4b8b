import { flag, setting } from '../../settings/kinds.ts';

export const diwooSettings = {
  diwoo: {
    isOn: setting(
      'RAADSFEED_DIWOO',
      flag,
      false,
      'Offer documents to the national index (DiWoo): sitemaps at `/woo`, named in `/robots.txt`.',
    ),
  },
};
