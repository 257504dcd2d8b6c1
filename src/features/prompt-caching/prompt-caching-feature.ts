import type { BuiltInFeature } from '../../feature.ts'
import { once } from '../../lib/promises.ts'
import type { CachingPause, ColdSession } from '../../types/caching-types.ts'
import { checkCachingHeader, getCachingMode } from './caching-mode.ts'
import type { PromptCacher, PromptCacherDependencies } from './prompt-cacher.ts'

/** Makes providers cache the prompts of requests with `promptCaching: 'auto'`. Its code loads with the first such request. */
export interface PromptCachingFeature extends BuiltInFeature {
  load(): Promise<PromptCacher>
  /** Lists the callers and targets for which cache breakpoints are paused because they didn't pay off. */
  listPauses(): CachingPause[]
  /** Lists the recent sessions that read less than 20% of their input from the cache. */
  listColdSessions(): ColdSession[]
}

export function createPromptCachingFeature(deps: PromptCacherDependencies): PromptCachingFeature {
  let loadedCacher: PromptCacher | undefined
  const load = once(async () => {
    const { PromptCacher } = await import('./prompt-cacher.ts')
    loadedCacher = new PromptCacher(deps)
    return loadedCacher
  })
  return {
    name: 'prompt-caching',
    load,
    listPauses: () => loadedCacher?.listPauses() ?? [],
    listColdSessions: () => loadedCacher?.listColdSessions() ?? [],
    checkHeaders: checkCachingHeader,
    orderRoutes: (request, routes) => loadedCacher?.prefer(request, routes) ?? routes,
    aroundEncode(attempt, encode) {
      const mode = getCachingMode(attempt.request, attempt.route)
      if (!mode) return encode(attempt.request)
      return load().then((cacher) => cacher.encode({ ...attempt, mode, catalog: attempt.request.log.catalog }, encode))
    },
  }
}
