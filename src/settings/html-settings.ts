import { optionalText } from './kinds.ts';

/** Settings of all pages for people. */
export const htmlSettings = {
  themeCss: optionalText('PAGES_THEME_CSS', {
    description:
      'Style sheet of the organisation, added after ours: tokens of Utrecht’s components, fonts and pictures as `data:`.',
    allowed: 'path of a CSS file',
  }),
};
