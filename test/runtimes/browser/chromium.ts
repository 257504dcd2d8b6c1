import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP *.test 127.0.0.1', // pages that have a name of their own, on this machine
]

/** The Chromium of this machine: the one that the environment names, otherwise the first in the path. */
export const chromiumPath: string | undefined = [
  process.env.SIGNALBOX_TEST_CHROMIUM,
  process.env.CHROME_PATH,
  ...NAMES.flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))),
].find((path) => path && existsSync(path))

/** The visitor's way back leads to the page as it was, as in every browser: Playwright turns that off. */
const ignoreDefaultArgs = ['--disable-back-forward-cache']
const options = { args: FLAGS, ignoreDefaultArgs, timeout: 120_000 }

/** Starts it without a window, on a profile of its own, which goes with it. Every host name under `test` is this machine. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, ...options })
}

/** Likewise, on the profile in a folder, which stays. */
export function launchWithProfile(executablePath: string, folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath, ...options })
}
