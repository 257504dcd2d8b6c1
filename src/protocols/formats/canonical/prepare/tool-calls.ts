import type { Alphabet } from '../../../../traits.ts'
import type { ToolCallPart } from '../canonical-parts.ts'
import type { ToolResult, Turn } from '../canonical-turns.ts'
import { hashToHex } from '../ids.ts'

interface CallNames {
  renameTool: Renamer
  renameId: Renamer
  freeFormTools: boolean
}

/** Gives calls and results the IDs and names that the target accepts. Free-form calls become function calls if the target only supports functions. */
export function fitCalls(turns: readonly Turn[], names: CallNames): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') return { ...turn, results: turn.results.map((result) => fitResult(result, names)) }
    if (turn.role !== 'assistant') return turn
    return { ...turn, content: turn.content.map((part) => (part.type === 'tool-call' ? fitCall(part, names) : part)) }
  })
}

function fitCall(
  { isFreeForm, ...call }: ToolCallPart,
  { renameTool, renameId, freeFormTools }: CallNames,
): ToolCallPart {
  const fitted = { ...call, id: renameId(call.id), name: renameTool(call.name) }
  if (!isFreeForm) return fitted
  return freeFormTools ? { ...fitted, isFreeForm } : { ...fitted, arguments: JSON.stringify({ input: call.arguments }) }
}

function fitResult(
  { isFreeForm, ...result }: ToolResult,
  { renameTool, renameId, freeFormTools }: CallNames,
): ToolResult {
  const { name } = result
  const fitted = { ...result, callId: renameId(result.callId), ...(name !== undefined && { name: renameTool(name) }) }
  return isFreeForm && freeFormTools ? { ...fitted, isFreeForm } : fitted
}

/** Collects the tool names of a conversation's calls, and the call IDs of its calls and results. */
export function collectCalls(turns: readonly Turn[]): { ids: Set<string>; names: Set<string> } {
  const ids = new Set<string>()
  const names = new Set<string>()
  for (const turn of turns) {
    if (turn.role === 'tool') for (const { callId } of turn.results) ids.add(callId)
    if (turn.role !== 'assistant') continue
    for (const part of turn.content) {
      if (part.type !== 'tool-call') continue
      ids.add(part.id)
      names.add(part.name)
    }
  }
  return { ids, names }
}

/** Maps each of the client's names or IDs to one that the target accepts. The mapping is consistent and unambiguous. */
export type Renamer = (name: string) => string

/** Creates a renamer that keeps acceptable names. A new name depends only on the old one, unless two would collide. */
export function createRenamer(names: Iterable<string>, alphabet: Alphabet): Renamer {
  const fits = toPattern(alphabet)
  const newNames = new Map<string, string>()
  const usedNames = new Set<string>()
  const all = new Set(names)
  for (const name of all) if (fits.test(name)) usedNames.add(name)
  for (const name of all) newNames.set(name, fits.test(name) ? name : createReplacement(name, alphabet, usedNames))
  return (name) => newNames.get(name) ?? (fits.test(name) ? name : createReplacement(name, alphabet, usedNames))
}

function createReplacement(name: string, alphabet: Alphabet, usedNames: Set<string>): string {
  const baseName = alphabet.isExact ? hashName(name, 0, alphabet) : cleanName(name, alphabet)
  let found = baseName
  for (let seed = 1; usedNames.has(found); seed++) {
    const hash = hashName(name, seed, alphabet)
    found = alphabet.isExact ? hash : baseName.slice(0, alphabet.maxLength - hash.length) + hash
  }
  usedNames.add(found)
  return found
}

function cleanName(name: string, { characters, first = characters, maxLength }: Alphabet): string {
  const cleaned = name.replace(new RegExp(`[^${characters}]`, 'g'), '_')
  const started = new RegExp(`^[${first}]`).test(cleaned) ? cleaned : `_${cleaned}`
  if (started.length <= maxLength) return started
  const hash = hashToHex(name, HASH_SEED)
  return `${started.slice(0, maxLength - hash.length)}${hash}`
}

/** Creates a hexadecimal name, which every alphabet allows. */
function hashName(name: string, seed: number, { isExact, maxLength }: Alphabet): string {
  const hash = hashToHex(name, HASH_SEED + seed) + hashToHex(name, ~HASH_SEED - seed)
  return isExact ? hash.repeat(Math.ceil(maxLength / hash.length)).slice(0, maxLength) : hash.slice(0, 8)
}

const HASH_SEED = 0x811c9dc5

function toPattern({ characters, first = characters, maxLength, isExact }: Alphabet): RegExp {
  const rest = isExact ? `{${maxLength - 1}}` : `{0,${maxLength - 1}}`
  return new RegExp(`^[${first}][${characters}]${rest}$`)
}
