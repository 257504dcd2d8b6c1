import type { ModelLog } from '../../request/model-log.ts'
import type { Guard } from './guard.ts'
import type { BuiltInGuard } from './kinds/finding-guard.ts'

/** Adds these guards' headers to the request's provider calls. */
export function addProviderHeaders(
  log: Pick<ModelLog, 'getProviderHeaders'>,
  guards: ReadonlyArray<Guard | BuiltInGuard>,
): void {
  for (const guard of guards) {
    const added = 'providerHeaders' in guard && guard.mode !== 'watch' && guard.providerHeaders
    if (!added) continue
    const { getProviderHeaders } = log
    log.getProviderHeaders = (target, headers) => {
      const all = { ...getProviderHeaders?.(target, headers) }
      const formats = [target.format, ...(target.alsoSpeaks ?? [])]
      for (const [name, value] of Object.entries(added)) {
        const [prefix] = /^(?:anthropic|openai)-/.exec(name) ?? []
        if (prefix !== undefined && !formats.some((format) => format.startsWith(prefix))) continue
        const before = all[name] ?? headers[name]
        all[name] = before && name.endsWith('-beta') ? `${before},${value}` : value
      }
      return all
    }
  }
}
