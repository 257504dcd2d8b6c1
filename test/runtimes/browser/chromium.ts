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
  '--host-resolver-rules=MAP *.test 127.0.0.1', // gives pages on this machine their own names
]

/** The path of this machine's Chromium: the one that the environment names, or else the first in the `PATH`. */
export const chromiumPath: string | undefined = [
  process.env.SIGNALBOX_TEST_CHROMIUM,
  process.env.CHROME_PATH,
  ...NAMES.flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))),
].find((path) => path && existsSync(path))

/** Lets going back restore the previous page as it was, like in every browser. Playwright turns this off by default. */
const ignoreDefaultArgs = ['--disable-back-forward-cache']
const options = { args: FLAGS, ignoreDefaultArgs, timeout: 120_000 }

/** Starts Chromium without a window, with a temporary profile. Every hostname under `test` resolves to this machine. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, ...options })
}

/** Starts Chromium in the same way, with a profile in a folder that is kept. */
export function launchWithProfile(executablePath: string, folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath, ...options })
}
