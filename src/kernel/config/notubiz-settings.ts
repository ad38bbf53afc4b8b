import { integer, list, url } from './kinds.ts';

const NAME_AND_CODE = /^\s*[^=]*[^=\s]\s*=\s*[A-Za-z0-9_]+\s*$/;

/** Settings of the NotuBiz API as a source of area C. */
export const notubizSettings = {
  notubizUrl: url('NOTUBIZ_URL', {
    schemes: ['https', 'http'],
    description: 'Base address of the NotuBiz API. Absent: its public one.',
  }),
  notubizQuickMinutes: integer('NOTUBIZ_QUICK_MINUTES', {
    default: 15,
    min: 1,
    max: 10_080,
    description: 'Time between readings of the current quarters: what was modified.',
  }),
  notubizFullHours: integer('NOTUBIZ_FULL_HOURS', {
    default: 168,
    min: 1,
    max: 8760,
    description: 'Time between readings of everything, all of history included.',
  }),
  notubizWooTypes: list('NOTUBIZ_WOO_TYPES', {
    item: NAME_AND_CODE,
    allowed: 'comma list of `type=code`, such as `Raadsvoorstel=c_db4862c3`',
    description: 'Woo categories by type of document; others have `c_db4862c3`.',
  }),
  notubizWooRegisters: list('NOTUBIZ_WOO_REGISTERS', {
    item: NAME_AND_CODE,
    allowed: 'comma list of `register=code`, by name or number',
    description: 'Woo categories by register, for documents of which the type has none.',
  }),
};
