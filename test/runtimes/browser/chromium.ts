import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

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

/** Starts it without a window, on a profile of its own, which goes with it. Every host name under `test` is this machine. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS, timeout: 120_000 })
}
