import type { Alphabet } from '../../../../traits.ts'
import type { ToolCallPart } from '../canonical-parts.ts'
import type { ToolResult, Turn } from '../canonical-turns.ts'
import { hashToHex } from '../ids.ts'

interface CallFitting {
  renameTool: Renamer
  renameId: Renamer
  supportsFreeForm: boolean
}

/** Gives calls and results the IDs and names that the target accepts. Free-form calls become function calls if the target only supports functions. */
export function fitCalls(turns: readonly Turn[], fitting: CallFitting): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') return { ...turn, results: turn.results.map((result) => fitResult(result, fitting)) }
    if (turn.role !== 'assistant') return turn
    return { ...turn, content: turn.content.map((part) => (part.type === 'tool-call' ? fitCall(part, fitting) : part)) }
  })
}

function fitCall(
  { isFreeForm, ...call }: ToolCallPart,
  { renameTool, renameId, supportsFreeForm }: CallFitting,
): ToolCallPart {
  const fittedCall = { ...call, id: renameId(call.id), name: renameTool(call.name) }
  if (!isFreeForm) return fittedCall
  return supportsFreeForm
    ? { ...fittedCall, isFreeForm }
    : { ...fittedCall, arguments: JSON.stringify({ input: call.arguments }) }
}

function fitResult(
  { isFreeForm, ...result }: ToolResult,
  { renameTool, renameId, supportsFreeForm }: CallFitting,
): ToolResult {
  const { name } = result
  const fittedResult = {
    ...result,
    callId: renameId(result.callId),
    ...(name !== undefined && { name: renameTool(name) }),
  }
  return isFreeForm && supportsFreeForm ? { ...fittedResult, isFreeForm } : fittedResult
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
  const namePattern = toPattern(alphabet)
  const newNames = new Map<string, string>()
  const usedNames = new Set<string>()
  const uniqueNames = new Set(names)
  for (const name of uniqueNames) if (namePattern.test(name)) usedNames.add(name)
  for (const name of uniqueNames)
    newNames.set(name, namePattern.test(name) ? name : createReplacement(name, alphabet, usedNames))
  return (name) => newNames.get(name) ?? (namePattern.test(name) ? name : createReplacement(name, alphabet, usedNames))
}

function createReplacement(name: string, alphabet: Alphabet, usedNames: Set<string>): string {
  const baseName = alphabet.isExact ? hashName(name, 0, alphabet) : sanitizeName(name, alphabet)
  let replacement = baseName
  for (let seed = 1; usedNames.has(replacement); seed++) {
    const hash = hashName(name, seed, alphabet)
    replacement = alphabet.isExact ? hash : baseName.slice(0, alphabet.maxLength - hash.length) + hash
  }
  usedNames.add(replacement)
  return replacement
}

function sanitizeName(name: string, { characters, first = characters, maxLength }: Alphabet): string {
  const sanitizedName = name.replace(new RegExp(`[^${characters}]`, 'g'), '_')
  const prefixedName = new RegExp(`^[${first}]`).test(sanitizedName) ? sanitizedName : `_${sanitizedName}`
  if (prefixedName.length <= maxLength) return prefixedName
  const hash = hashToHex(name, HASH_SEED)
  return `${prefixedName.slice(0, maxLength - hash.length)}${hash}`
}

/** Creates a hexadecimal name, which every alphabet allows. */
function hashName(name: string, seed: number, { isExact, maxLength }: Alphabet): string {
  const hash = hashToHex(name, HASH_SEED + seed) + hashToHex(name, ~HASH_SEED - seed)
  return isExact ? hash.repeat(Math.ceil(maxLength / hash.length)).slice(0, maxLength) : hash.slice(0, 8)
}

const HASH_SEED = 0x811c9dc5

function toPattern({ characters, first = characters, maxLength, isExact }: Alphabet): RegExp {
  const quantifier = isExact ? `{${maxLength - 1}}` : `{0,${maxLength - 1}}`
  return new RegExp(`^[${first}][${characters}]${quantifier}$`)
}
