import { assertNever } from '../../../../lib/assert-never.ts'
import type { Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { CacheMark, Part } from '../canonical-parts.ts'
import type { Tool } from '../canonical-tools.ts'
import type { ToolResult, Turn } from '../canonical-turns.ts'
import { isMeaningful } from './prepare-turns.ts'

interface MarkableItems {
  tools: readonly Tool[]
  turns: readonly Turn[]
}

/** An item of a copied request that may have a mark. It can be changed in place. */
interface MarkCandidate {
  item: { cache?: CacheMark }
  within: 'tools' | 'instructions' | 'input' | 'assistant' | 'results' | 'result-parts'
  part?: MarkedPart
  /** The tool result that the part belongs to. */
  result?: ToolResult
}

type MarkedPart = Extract<Part, { cache?: CacheMark }>

/** Moves the mark of each empty text to the item before it, which covers the same prefix. Empty texts are dropped later. */
export function moveBlankMarks(turns: readonly Turn[], { traits, warnings }: TargetContext): readonly Turn[] {
  if (traits.cacheMarks === 'none' || !hasMarks({ tools: [], turns })) return turns
  const copy = copyItems({ tools: [], turns })
  let before: MarkCandidate | undefined
  for (const candidate of listMarkCandidates(copy)) {
    const { item, part, result } = candidate
    if (!isBlank(part, traits)) before = candidate
    else if (item.cache) {
      const receiver = result ?? before?.item
      if (receiver) receiver.cache ??= item.cache
      else warnings.noteDropped(warnings.getPath(item.cache, 'cache'))
      delete item.cache
    }
  }
  return copy.turns
}

/** Returns whether the part is a text that will be dropped or can't have a mark. */
const isBlank = (part: Part | undefined, { emptyText, cacheMarks }: Traits): boolean =>
  part !== undefined && !isMeaningful(part, emptyText === 'refused' || cacheMarks === 'cache_control')

/** The items with their marks. `auto`: the mark on the request as a whole. */
interface MarkedRequest extends MarkableItems {
  auto: CacheMark | undefined
}

/**
 * Keeps the cache marks that the target supports. If there are too many, it keeps the last one of the conversation, of the instructions, and of the
 * tools, and then the latest others. The mark on the whole request also takes a slot. Unless `takesAuto`, it becomes a mark on the last item.
 */
export function fitCacheMarks(
  request: MarkedRequest,
  { takesAuto, ...target }: TargetContext & { takesAuto: boolean },
): { tools: Tool[]; turns: Turn[]; auto: CacheMark | undefined } {
  const { auto } = request
  if (!auto && !hasMarks(request)) return { tools: [...request.tools], turns: [...request.turns], auto }
  const copy = copyItems(request)
  const { traits, warnings } = target
  const hasLifetimes = traits.cacheMarks === 'cache_control'
  const candidates = listMarkCandidates(copy)

  function drop({ item }: MarkCandidate) {
    if (item.cache) warnings.noteDropped(warnings.getPath(item.cache, 'cache'))
    delete item.cache
  }

  for (const candidate of candidates) {
    if (!isUnmarkable(candidate, target)) continue
    if (candidate.result && candidate.item.cache && !candidate.result.cache) {
      candidate.result.cache = candidate.item.cache
      delete candidate.item.cache
    } else drop(candidate)
  }
  const last = candidates.findLast((candidate) => !isUnmarkable(candidate, target) && !isBlank(candidate.part, traits))
  if (auto && hasLifetimes && !takesAuto && last) last.item.cache ??= auto
  const autoSlots = auto && hasLifetimes && takesAuto ? 1 : 0
  const slots = traits.cacheMarks === 'none' ? 0 : traits.maxCacheMarks - autoSlots
  const marked = candidates.filter(({ item }) => item.cache)
  for (const candidate of rankMarks(marked).slice(slots)) drop(candidate)
  if (!hasLifetimes) return { ...copy, auto }

  const whole: { cache?: CacheMark } = takesAuto && auto ? { cache: auto } : {}
  fitLifetimes([...marked.map(({ item }) => item), whole], target)
  if (whole.cache && last?.item.cache && last.item.cache.ttl !== whole.cache.ttl) whole.cache = last.item.cache // both apply to the last block
  return { ...copy, auto: whole.cache }
}

/** Sorts marks by importance: the last one of each part of the prefix, then the others from the back, which cover the longest prefixes. */
function rankMarks(marked: readonly MarkCandidate[]): MarkCandidate[] {
  const areas = [['tools'], ['instructions'], ['input', 'assistant', 'results', 'result-parts']]
  const lastOfEach = areas.flatMap((area) => marked.findLast(({ within }) => area.includes(within)) ?? [])
  return [...new Set([...lastOfEach.reverse(), ...marked.toReversed()])]
}

/** Limits the lifetimes to those that the target supports, of the two that Anthropic has. A longer one must not follow a shorter one. */
function fitLifetimes(items: readonly { cache?: CacheMark }[], { traits, warnings }: TargetContext): void {
  let isShort = traits.maxCacheTtl === '5m'
  for (const item of items) {
    const { cache } = item
    if (!cache) continue
    const isLong = cache.ttl !== undefined && cache.ttl !== '5m'
    isShort ||= !isLong
    if (!isLong || (!isShort && cache.ttl === '1h')) continue
    warnings.noteChanged(warnings.getPath(cache, 'cache', 'ttl'), 'replaced')
    item.cache = { ...cache, ttl: isShort ? '5m' : '1h' }
  }
}

function isUnmarkable({ within }: MarkCandidate, { traits: { cacheMarks, unmarkable } }: TargetContext): boolean {
  if (within === 'tools' && cacheMarks === 'prompt_cache_breakpoint') return true // only parts of the conversation can have one
  return unmarkable.some((area) => area === within)
}

/** Returns whether there are any marks. Most requests have none and aren't copied. */
const hasMarks = ({ tools, turns }: MarkableItems): boolean =>
  tools.some(isMarked) ||
  turns.some((turn) =>
    turn.role === 'tool'
      ? turn.results.some((result) => isMarked(result) || result.content.some(isMarked))
      : turn.content.some(isMarked),
  )

const isMarked = (item: Tool | Part | ToolResult): boolean =>
  ('cache' in item && item.cache !== undefined) ||
  ('type' in item && item.type === 'search-result' && item.content.some(isMarked))

/** Lists all items that may have marks, in the order of the cached prefix. */
function listMarkCandidates({ tools, turns }: MarkableItems): MarkCandidate[] {
  const candidates: MarkCandidate[] = tools.flatMap((item) =>
    item.type === 'function' ? [{ item, within: 'tools' }] : [],
  )
  const add = (part: Part, target: Omit<MarkCandidate, 'item' | 'part'>) => {
    if (isMarkable(part)) candidates.push({ item: part, part, ...target })
  }
  for (const turn of turns) {
    if (turn.role === 'tool')
      for (const result of turn.results) {
        for (const part of result.content) add(part, { within: 'result-parts', result })
        candidates.push({ item: result, within: 'results' })
      }
    else {
      const within = turn.role === 'user' ? 'input' : turn.role === 'system' ? 'instructions' : turn.role
      for (const part of turn.content) add(part, { within })
    }
  }
  return candidates
}

/** Returns whether the part can have a mark. Reasoning and server tools can't. */
const isMarkable = (part: Part): part is MarkedPart => MARKABLE.has(part.type)

const MARKABLE: ReadonlySet<Part['type']> = new Set<MarkedPart['type']>([
  ...(['text', 'image', 'file', 'audio', 'search-result', 'tool-call'] as const),
])

/** Copies each item. Marks on the texts of a search result become one mark on the result. */
function copyItems({ tools, turns }: MarkableItems): { tools: Tool[]; turns: Turn[] } {
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
  const inner = part.content.findLast(({ cache }) => cache)?.cache
  if (!inner) return { ...part }
  return { ...part, cache: part.cache ?? inner, content: part.content.map(({ cache: _, ...text }) => text) }
}
