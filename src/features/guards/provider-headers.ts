import type { ModelLog } from '../../request/model-log.ts'
import type { Guard } from './guard.ts'
import type { BuiltInGuard } from './kinds/finding-guard.ts'

/** Adds these guards' headers to the request's provider calls. */
export function addProviderHeaders(
  log: Pick<ModelLog, 'getProviderHeaders'>,
  guards: ReadonlyArray<Guard | BuiltInGuard>,
): void {
  for (const guard of guards) {
    const addedHeaders = 'providerHeaders' in guard && guard.mode !== 'watch' && guard.providerHeaders
    if (!addedHeaders) continue
    const { getProviderHeaders } = log
    log.getProviderHeaders = (target, headers) => {
      const mergedHeaders = { ...getProviderHeaders?.(target, headers) }
      const formats = [target.format, ...(target.alsoSpeaks ?? [])]
      for (const [name, value] of Object.entries(addedHeaders)) {
        const [prefix] = /^(?:anthropic|openai)-/.exec(name) ?? []
        if (prefix !== undefined && !formats.some((format) => format.startsWith(prefix))) continue
        const currentValue = mergedHeaders[name] ?? headers[name]
        mergedHeaders[name] = currentValue && name.endsWith('-beta') ? `${currentValue},${value}` : value
      }
      return mergedHeaders
    }
  }
}
