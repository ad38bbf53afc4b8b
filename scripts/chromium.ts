/** This machine's Chromium, for page tests and screenshots. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of the first one on PATH; `undefined` when there is none. */
export function findChromium(): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  return directories.flatMap((directory) => NAMES.map((name) => join(directory, name))).find(isExecutable);
}

/** Title of a group of tests that need it; without one, it says why they are skipped. */
export function inChromium(executable: string | undefined): string {
  return executable === undefined ? 'in Chromium (skipped: there is no Chromium on PATH)' : 'in Chromium';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Chromium's sandbox does not work for root, as in a container. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: ['--disable-gpu'] });
}
