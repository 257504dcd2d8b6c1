import { isObject } from '../../lib/json.ts'

const MARKS = ['cache_control', 'cachePoint', 'prompt_cache_breakpoint']

/** Lists the paths of everything with a mark: `tools[3]`, `messages[4].content[0]`, and `cache_control` for the whole request. */
export function listMarkPaths(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, at) => listMarkPaths(item, `${path}[${at}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    if (MARKS.includes(name)) return [path || name]
    return listMarkPaths(inner, path === '' ? name : `${path}.${name}`)
  })
}
