import { gegevensConstants, gegevensSettings } from '../gegevens/settings.ts';
import { proofConstants, proofSettings } from '../proof/settings.ts';
import { raadsfeedConstants, raadsfeedSettings } from '../raadsfeed/settings.ts';
import { verwerkingenlogConstants, verwerkingenlogSettings } from '../verwerkingenlog/settings.ts';
import type { Setting } from './kinds.ts';
import { platformConstants, platformSettings } from './platform-settings.ts';

/** All settings, by group; docs/settings.md is tested against it. */
export const declared = {
  ...platformSettings,
  ...gegevensSettings,
  ...verwerkingenlogSettings,
  ...raadsfeedSettings,
  ...proofSettings,
};

/** Settings that no operator has a reason to change, by group: part of the configuration, without a variable. */
export const constants = {
  ...platformConstants,
  ...gegevensConstants,
  ...verwerkingenlogConstants,
  ...raadsfeedConstants,
  ...proofConstants,
};

export type SettingGroups = typeof declared;
type Constants = typeof constants;

export type Overrides = { readonly [G in keyof Constants]?: Partial<Constants[G]> };

type Values<G> = { readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : never };
export type Config = {
  readonly [G in keyof SettingGroups]: Values<SettingGroups[G]> &
    (G extends keyof Constants ? Readonly<Constants[G]> : unknown);
};

export interface ConfigFault {
  readonly variable: string;
  readonly wrong: string;
  readonly allowed: string;
}

/** Adds a fault that lies between variables, each of them well formed. @param involves the first one is named */
export type Fault = (involves: readonly [string, ...string[]], wrong: string, allowed: string) => void;
