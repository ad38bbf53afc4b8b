import { optional, text } from './kinds.ts';

/** Settings of all pages for people. */
export const htmlSettings = {
  themeCss: optional(
    'PAGES_THEME_CSS',
    text(undefined, 'path of a CSS file'),
    'Own style sheet: tokens of Utrecht’s components; fonts and pictures as `data:`.',
  ),
};
