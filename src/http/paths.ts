import type { Exchange } from '../lib/exchange.ts'
import type { WireFormat } from '../types.ts'

/** The parts of the path space that belong to the gateway, each with its own guard. */
export type Area = 'models' | 'management'

const areas: Record<string, Area> = { v1: 'models', v1beta: 'models', api: 'management' }

/** `''`, or a path that starts with a slash and does not end with one. Throws a TypeError on anything that is no path. */
export function normaliseBasePath(basePath: string | undefined): string {
  const trimmed = (basePath ?? '').replace(/\/+$/, '')
  if (trimmed !== '' && !/^(\/[\w.~-]+)+$/.test(trimmed)) {
    throw new TypeError(`basePath must look like "/ai", got ${JSON.stringify(basePath)}`)
  }
  return trimmed
}

/** The path below the base path, or `undefined` when it lies elsewhere. */
export function below(basePath: string, path: string): string | undefined {
  if (basePath === '') return path
  if (!path.startsWith(basePath)) return undefined
  const rest = path.slice(basePath.length)
  return rest === '' ? '/' : rest.startsWith('/') ? rest : undefined
}

/** Which area a path below the base path belongs to: all of `/v1`, `/v1beta` and `/api`, whether a route is served there or not. */
export function areaOf(path: string): Area | undefined {
  const end = path.indexOf('/', 1)
  const first = path.slice(1, end === -1 ? path.length : end)
  return path.startsWith('/') && Object.hasOwn(areas, first) ? areas[first] : undefined
}

/**
 * All three vendors' clients ask for `GET /v1/models`. Google's say so by `x-goog-api-key` or `x-goog-api-client`, Anthropic's by
 * `anthropic-version`; everybody else reads OpenAI's shape, which is the specification's.
 */
export function modelsFormat(exchange: Pick<Exchange, 'header'>): WireFormat {
  const has = (name: string) => exchange.header(name) !== undefined
  if (has('x-goog-api-key') || has('x-goog-api-client')) return 'gemini'
  return has('anthropic-version') ? 'anthropic-messages' : 'openai-chat'
}

/** The path of the model listing, which any page may read (spec.md, Models). */
export const isModelList = (path: string): boolean => /^\/v1\/models\/*$/.test(path)

/** The format in which a caller under `/v1` reads errors: by the path, and where all vendors' clients share it by their headers. */
export function callerFormat(path: string, exchange: Pick<Exchange, 'header'>): WireFormat {
  if (
    path === '/v1beta' ||
    path.startsWith('/v1beta/') ||
    /:(generateContent|streamGenerateContent|countTokens)$/.test(path)
  )
    return 'gemini'
  if (isModelList(path) || path.startsWith('/v1/models/')) return modelsFormat(exchange)
  if (/^\/v1\/(v1\/)?messages/.test(path)) return 'anthropic-messages' // with the slip of one /v1 too many
  return path.startsWith('/v1/responses') ? 'openai-responses' : 'openai-chat'
}
