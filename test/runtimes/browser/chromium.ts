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

/** The path to this machine's Chromium: from the environment variable, or else the first one in the `PATH`. */
export const chromiumPath: string | undefined = [
  process.env.SIGNALBOX_TEST_CHROMIUM,
  process.env.CHROME_PATH,
  ...NAMES.flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))),
].find((path) => path && existsSync(path))

/** Enables the back/forward cache, which Playwright turns off by default. */
const ignoreDefaultArgs = ['--disable-back-forward-cache']
const options = { args: FLAGS, ignoreDefaultArgs, timeout: 120_000 }

/** Starts headless Chromium with a temporary profile. Every hostname under `.test` resolves to this machine. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, ...options })
}

/** Starts Chromium in the same way, with a persistent profile in a folder. */
export function launchWithProfile(executablePath: string, folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath, ...options })
}
