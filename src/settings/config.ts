/** What can be set, and the type of what was. */
import { gegevensSettings } from '../gegevens/settings.ts';
import { proofSettings } from '../proof/settings.ts';
import { raadsfeedSettings } from '../raadsfeed/settings.ts';
import { verwerkingenlogSettings } from '../verwerkingenlog/settings.ts';
import type { Setting } from './kinds.ts';
import { platformSettings } from './platform-settings.ts';

/** All settings, by group; docs/settings.md is tested against it. */
export const declared = {
  ...platformSettings,
  ...gegevensSettings,
  ...verwerkingenlogSettings,
  ...raadsfeedSettings,
  ...proofSettings,
};

export type SettingGroups = typeof declared;

type Values<G> = { readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : never };
export type Config = { readonly [G in keyof SettingGroups]: Values<SettingGroups[G]> };

/** One fault of the configuration. */
export interface ConfigFault {
  readonly variable: string;
  readonly wrong: string;
  readonly allowed: string;
}

/** Adds a fault that lies between variables, each of them well formed. @param involves the first one is named */
export type Fault = (involves: readonly [string, ...string[]], wrong: string, allowed: string) => void;
