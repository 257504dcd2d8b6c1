import { assertNever } from '../../../../lib/assert-never.ts'
import type { Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { CacheBreakpoint, Part } from '../canonical-parts.ts'
import type { Tool } from '../canonical-tools.ts'
import type { ToolResult, Turn } from '../canonical-turns.ts'
import { isMeaningful } from './prepare-turns.ts'

interface CacheableItems {
  tools: readonly Tool[]
  turns: readonly Turn[]
}

/** An item in a copied request that may have a breakpoint. It can be changed in place. */
interface BreakpointCandidate {
  item: { cache?: CacheBreakpoint }
  within: 'tools' | 'instructions' | 'input' | 'assistant' | 'results' | 'result-parts'
  part?: CacheablePart
  /** The tool result that the part belongs to. */
  result?: ToolResult
}

type CacheablePart = Extract<Part, { cache?: CacheBreakpoint }>

/** Moves each empty text part's breakpoint to the item before it, which covers the same prefix. Empty text parts are dropped later. */
export function moveBlankBreakpoints(turns: readonly Turn[], { traits, warnings }: TargetContext): readonly Turn[] {
  if (traits.cacheBreakpoints === 'none' || !hasBreakpoints({ tools: [], turns })) return turns
  const copy = copyItems({ tools: [], turns })
  let previous: BreakpointCandidate | undefined
  for (const candidate of listBreakpointCandidates(copy)) {
    const { item, part, result } = candidate
    if (!isBlankPart(part, traits)) previous = candidate
    else if (item.cache) {
      const receiver = result ?? previous?.item
      if (receiver) receiver.cache ??= item.cache
      else warnings.recordDrop(warnings.getPath(item.cache, 'cache'))
      delete item.cache
    }
  }
  return copy.turns
}

/** Returns whether this is a text part that will be dropped or that can't have a breakpoint. */
const isBlankPart = (part: Part | undefined, { emptyText, cacheBreakpoints }: Traits): boolean =>
  part !== undefined && !isMeaningful(part, emptyText === 'refused' || cacheBreakpoints === 'cache_control')

/** The items with their breakpoints. `autoBreakpoint` is the breakpoint on the entire request. */
interface CacheableRequest extends CacheableItems {
  autoBreakpoint: CacheBreakpoint | undefined
}

/**
 * Keeps the cache breakpoints that the target supports. If there are too many, keeps the last ones in the conversation, the instructions, and the
 * tools, and then the latest of the rest. The breakpoint on the entire request counts too. Unless `acceptsAuto` is set, it moves to the last item.
 */
export function fitCacheBreakpoints(
  request: CacheableRequest,
  { acceptsAuto: acceptsAutoBreakpoint, ...target }: TargetContext & { acceptsAuto: boolean },
): { tools: Tool[]; turns: Turn[]; autoBreakpoint: CacheBreakpoint | undefined } {
  const { autoBreakpoint } = request
  if (!autoBreakpoint && !hasBreakpoints(request))
    return { tools: [...request.tools], turns: [...request.turns], autoBreakpoint }
  const copy = copyItems(request)
  const { traits, warnings } = target
  const supportsTtls = traits.cacheBreakpoints === 'cache_control'
  const candidates = listBreakpointCandidates(copy)

  function dropBreakpoint({ item }: BreakpointCandidate) {
    if (item.cache) warnings.recordDrop(warnings.getPath(item.cache, 'cache'))
    delete item.cache
  }

  for (const candidate of candidates) {
    if (!isUncacheable(candidate, target)) continue
    if (candidate.result && candidate.item.cache && !candidate.result.cache) {
      candidate.result.cache = candidate.item.cache
      delete candidate.item.cache
    } else dropBreakpoint(candidate)
  }
  const lastCandidate = candidates.findLast(
    (candidate) => !isUncacheable(candidate, target) && !isBlankPart(candidate.part, traits),
  )
  if (autoBreakpoint && supportsTtls && !acceptsAutoBreakpoint && lastCandidate)
    lastCandidate.item.cache ??= autoBreakpoint
  const autoSlots = autoBreakpoint && supportsTtls && acceptsAutoBreakpoint ? 1 : 0
  const slots = traits.cacheBreakpoints === 'none' ? 0 : traits.maxCacheBreakpoints - autoSlots
  const breakpoints = candidates.filter(({ item }) => item.cache)
  for (const candidate of rankBreakpoints(breakpoints).slice(slots)) dropBreakpoint(candidate)
  if (!supportsTtls) return { ...copy, autoBreakpoint }

  const autoItem: { cache?: CacheBreakpoint } = acceptsAutoBreakpoint && autoBreakpoint ? { cache: autoBreakpoint } : {}
  fitTtls([...breakpoints.map(({ item }) => item), autoItem], target)
  if (autoItem.cache && lastCandidate?.item.cache && lastCandidate.item.cache.ttl !== autoItem.cache.ttl)
    autoItem.cache = lastCandidate.item.cache // both breakpoints apply to the last block
  return { ...copy, autoBreakpoint: autoItem.cache }
}

/**
 * Sorts breakpoints by importance: the last one in each part of the prefix, then the others from last to first, because later ones cover longer
 * prefixes.
 */
function rankBreakpoints(breakpoints: readonly BreakpointCandidate[]): BreakpointCandidate[] {
  const areas = [['tools'], ['instructions'], ['input', 'assistant', 'results', 'result-parts']]
  const lastOfEachArea = areas.flatMap((area) => breakpoints.findLast(({ within }) => area.includes(within)) ?? [])
  return [...new Set([...lastOfEachArea.reverse(), ...breakpoints.toReversed()])]
}

/** Limits the TTLs to the ones that the target supports; Anthropic has two. A longer TTL must not follow a shorter one. */
function fitTtls(items: readonly { cache?: CacheBreakpoint }[], { traits, warnings }: TargetContext): void {
  let mustBeShort = traits.maxCacheTtl === '5m'
  for (const item of items) {
    const { cache } = item
    if (!cache) continue
    const isLongTtl = cache.ttl !== undefined && cache.ttl !== '5m'
    mustBeShort ||= !isLongTtl
    if (!isLongTtl || (!mustBeShort && cache.ttl === '1h')) continue
    warnings.recordChange(warnings.getPath(cache, 'cache', 'ttl'), 'replaced')
    item.cache = { ...cache, ttl: mustBeShort ? '5m' : '1h' }
  }
}

function isUncacheable(
  { within }: BreakpointCandidate,
  { traits: { cacheBreakpoints, uncacheable } }: TargetContext,
): boolean {
  if (within === 'tools' && cacheBreakpoints === 'prompt_cache_breakpoint') return true // only parts of the conversation can have such a breakpoint
  return uncacheable.some((area) => area === within)
}

/** Returns whether there are any breakpoints. Most requests have none and aren't copied. */
const hasBreakpoints = ({ tools, turns }: CacheableItems): boolean =>
  tools.some(hasBreakpoint) ||
  turns.some((turn) =>
    turn.role === 'tool'
      ? turn.results.some((result) => hasBreakpoint(result) || result.content.some(hasBreakpoint))
      : turn.content.some(hasBreakpoint),
  )

const hasBreakpoint = (item: Tool | Part | ToolResult): boolean =>
  ('cache' in item && item.cache !== undefined) ||
  ('type' in item && item.type === 'search-result' && item.content.some(hasBreakpoint))

/** Lists all items that may have breakpoints, in the order in which the prefix is cached. */
function listBreakpointCandidates({ tools, turns }: CacheableItems): BreakpointCandidate[] {
  const candidates: BreakpointCandidate[] = tools.flatMap((item) =>
    item.type === 'function' ? [{ item, within: 'tools' }] : [],
  )
  const addCandidate = (part: Part, target: Omit<BreakpointCandidate, 'item' | 'part'>) => {
    if (canHaveBreakpoint(part)) candidates.push({ item: part, part, ...target })
  }
  for (const turn of turns) {
    if (turn.role === 'tool')
      for (const result of turn.results) {
        for (const part of result.content) addCandidate(part, { within: 'result-parts', result })
        candidates.push({ item: result, within: 'results' })
      }
    else {
      const location = turn.role === 'user' ? 'input' : turn.role === 'system' ? 'instructions' : turn.role
      for (const part of turn.content) addCandidate(part, { within: location })
    }
  }
  return candidates
}

/** Returns whether the part can have a breakpoint. Reasoning and server tools can't. */
const canHaveBreakpoint = (part: Part): part is CacheablePart => CACHEABLE_PART_TYPES.has(part.type)

const CACHEABLE_PART_TYPES: ReadonlySet<Part['type']> = new Set<CacheablePart['type']>([
  ...(['text', 'image', 'file', 'audio', 'search-result', 'tool-call'] as const),
])

/** Copies each item. Breakpoints on a search result's text parts become one on the result. */
function copyItems({ tools, turns }: CacheableItems): { tools: Tool[]; turns: Turn[] } {
  const copyTurn = (turn: Turn): Turn => {
    switch (turn.role) {
      case 'system':
        return { ...turn, content: turn.content.map(copyPart) }
      case 'user':
        return { ...turn, content: turn.content.map(copyPart) }
      case 'assistant':
        return { ...turn, content: turn.content.map(copyPart) }
      case 'tool':
        return {
          ...turn,
          results: turn.results.map((result) => ({ ...result, content: result.content.map(copyPart) })),
        }
      default:
        return assertNever(turn)
    }
  }
  return { tools: tools.map((tool) => ({ ...tool })), turns: turns.map(copyTurn) }
}

function copyPart<P extends Part>(part: P): P {
  if (part.type !== 'search-result') return { ...part }
  const nestedBreakpoint = part.content.findLast(({ cache }) => cache)?.cache
  if (!nestedBreakpoint) return { ...part }
  return { ...part, cache: part.cache ?? nestedBreakpoint, content: part.content.map(({ cache: _, ...text }) => text) }
}
