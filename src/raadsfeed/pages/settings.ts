import { flag, setting } from '../../settings/kinds.ts';

export const pagesSettings = {
  pages: {
    isOn: setting('RAADSFEED_PAGES', flag, false, 'Serve council information as pages, with search, at `/raad`.'),
  },
};
