import { withoutTrailing } from '../lib/trim-end.ts'

/** The parts of the path space that belong to the gateway, each with its own guard. */
export type Area = 'models' | 'management' | 'health'

const areas: Record<string, Area> = { v1: 'models', v1beta: 'models', api: 'management' }

/** The base path with a leading slash and without a trailing one; `''` for the root. Throws a TypeError on anything that is no path. */
export function normaliseBasePath(basePath: string | undefined): string {
  const trimmed = withoutTrailing(basePath ?? '', '/')
  if (trimmed !== '' && !/^(\/[\w.~-]+)+$/.test(trimmed)) {
    throw new TypeError(`basePath must look like "/ai", got ${JSON.stringify(basePath)}`)
  }
  return trimmed
}

/** The path relative to the base path; `undefined` when it is not below it. */
export function below(basePath: string, path: string): string | undefined {
  if (basePath === '') return path
  if (!path.startsWith(basePath)) return undefined
  const rest = path.slice(basePath.length)
  return rest === '' ? '/' : rest.startsWith('/') ? rest : undefined
}

/**
 * Which area a path below the base path belongs to: all of `/v1`, `/v1beta` and `/api`, whether a route is served there or not, and
 * `/health` alone, so that a host keeps what it serves below that.
 */
export function areaOf(path: string): Area | undefined {
  if (path === '/health') return 'health'
  const end = path.indexOf('/', 1)
  const first = path.slice(1, end === -1 ? path.length : end)
  return path.startsWith('/') && Object.hasOwn(areas, first) ? areas[first] : undefined
}
