import { watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { createMutex } from '../lib/promises.ts'
import type { Logger } from '../types.ts'
import { describeError, toOneLine } from './logger.ts'
import { getErrorCode, isProblem } from './problem.ts'

/** Applies the config file again while the gateway runs. */
export interface ConfigReloader {
  /** Applies the file, and logs the result. If the file has a mistake, the gateway keeps its configuration. Never rejects. */
  reload(): Promise<void>
  close(): void
}

interface ReloaderOptions {
  path: string
  /** Whether to also apply the file when its text changes. */
  watches: boolean
  logger: Logger
  /** Applies the file. Resolves to warnings. */
  apply(): Promise<string[]>
}

/** How long the file must stay unchanged before it is read, in ms. */
const SETTLE_MS = 200

export function createConfigReloader({ path, watches, logger, apply }: ReloaderOptions): ConfigReloader {
  const runInOrder = createMutex()

  async function applyAndLog() {
    try {
      for (const warning of await apply()) logger.warn(warning)
      logger.info?.(`Applied the changes in ${path}.`)
    } catch (error) {
      const reason = isProblem(error) ? error.message : `${path}: ${describeError(error)}`
      logger.error(`${toOneLine(reason)} The gateway keeps the previous configuration.`)
    }
  }

  const reload = () => runInOrder(applyAndLog)
  return { reload, close: watches ? watchText(path, { onChange: reload, logger }) : () => {} }
}

/** Calls `onChange` when the file's text has changed. Watches the folder, because editors replace files. Returns the function that stops it. */
function watchText(path: string, { onChange, logger }: { onChange(): Promise<void>; logger: Logger }): () => void {
  let timer: NodeJS.Timeout | undefined
  const read = () => readFile(path, 'utf8').catch(() => undefined)
  let last = read()

  async function compare() {
    const previous = await last
    last = read()
    const text = await last
    if (text !== undefined && text !== previous) await onChange()
  }

  const fail = (error: unknown) =>
    logger.warn(`Cannot watch ${path} for changes: ${getErrorCode(error)}. To apply them, send SIGHUP.`)
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
      if (name !== null && name !== basename(path)) return
      clearTimeout(timer)
      timer = setTimeout(compare, SETTLE_MS)
    }).on('error', fail)
    return () => {
      clearTimeout(timer)
      watcher.close()
    }
  } catch (error) {
    fail(error)
    return () => {}
  }
}
