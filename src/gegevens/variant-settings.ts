import type { Variant } from '../lib/exchange-model/mapping.ts';
import type { Config } from '../settings/read-config.ts';

export function variantSettings(gegevens: Config['gegevens'], variant: Variant) {
  return {
    prefix: gegevens[`${variant}Prefix` as const],
    service: gegevens.services.get(variant) ?? variant,
    model: gegevens[`${variant}Model` as const],
    maximum: gegevens[`${variant}MaxRecords` as const],
  };
}
