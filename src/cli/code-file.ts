import { access } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { GatewayConfig } from '../config/define-config.ts'
import { isObject } from '../lib/json.ts'
import { describeError, toOneLine } from './logger.ts'
import { createProblem, type Problem } from './problem.ts'

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs']

/** Returns whether a config file is a module rather than YAML or JSON. */
export const isCodeFile = (path: string): boolean => EXTENSIONS.includes(extname(path).toLowerCase())

/** Finds `signalbox.config.ts`, or `.mts`, `.js`, or `.mjs`, in a folder. */
export async function findCodeFile(folder: string): Promise<string | undefined> {
  for (const extension of EXTENSIONS) {
    const name = `signalbox.config${extension}`
    const exists = await access(resolve(folder, name)).then(
      () => true,
      () => false,
    )
    if (exists) return name
  }
  return undefined
}

/**
 * Loads a config file's default export. `reloads` is the number of earlier loads, because Node.js loads each URL only once. Throws a problem that
 * names the file.
 */
export async function loadCodeFile(path: string, reloads = 0): Promise<GatewayConfig> {
  const url = pathToFileURL(resolve(path))
  if (reloads > 0) url.search = `reload=${reloads}`
  const isTypeScript = extname(path).toLowerCase().endsWith('ts')
  if (isTypeScript && !('features' in process && Reflect.get(process.features, 'typescript')))
    throw createProblem(
      `${path}: Node.js ${process.versions.node} does not load TypeScript. Use Node.js 22.18 or later, or rename the file to .mjs and remove the types.`,
    )
  const found: unknown = await import(url.href).catch((error: unknown) => {
    throw toLoadProblem(path, error)
  })
  const config: unknown = isObject(found) ? await found.default : undefined
  if (config === undefined)
    throw createProblem(`${path} has no default export. Write: export default defineConfig({ connections: { … } })`)
  if (!isObject(config))
    throw createProblem(`${path}: the default export must be an object, such as defineConfig({ … }).`)
  const reservedOption = HOST_OPTIONS.find((name) => name in config)
  if (reservedOption !== undefined)
    throw createProblem(
      `${path}: "${reservedOption}" is set by the options of the command (signalbox --help). Remove it.`,
    )
  return config as GatewayConfig // `createGateway` checks the options
}

/** Options that the command sets itself. */
const HOST_OPTIONS = [
  'storage',
  'secret',
  'management',
  'dashboard',
  'sharedState',
  'fetch',
  'clock',
  'logger',
  'basePath',
  'publicOrigin',
]

function toLoadProblem(path: string, cause: unknown): Problem {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const message = cause instanceof Error ? toOneLine(cause.message) : String(cause)
  if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${resolve(path)}'`))
    return createProblem(`Cannot read the config file ${path}: no such file.`, { cause })
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const advice = message.startsWith('Cannot find package') ? ' Install it in this folder: npm install' : ''
    return createProblem(`${path}: ${message.replace(/ imported from .*/, '')}.${advice}`, { cause })
  }
  if (cause instanceof SyntaxError) return createProblem(`${path} is not valid: ${message}.`, { cause })
  return createProblem(`${path} failed to load: ${describeError(cause)}`, { cause })
}
