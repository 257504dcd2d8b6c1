import { isObject, type JsonObject } from '../../lib/json.ts'
import { elementFields, type Fields } from './fields.ts'
import type { CacheMark, HostedCall, OwnForm, ServerToolPart } from './parts.ts'
import type { Warnings } from './warnings.ts'

export interface FunctionTool {
  type: 'function'
  name: string
  description?: string
  /** JSON Schema of the input, keys in the client's order; absent: takes nothing. */
  schema?: JsonObject
  outputSchema?: JsonObject
  /** Absent: not given. Formats have different defaults, so writers send `false` where absence means true. */
  strict?: boolean
  /** Inputs that show how it is called, for targets of Anthropic. */
  examples?: JsonObject[]
  cache?: CacheMark
  /** The vendor's own declaration, for a tool that the client's vendor defines. */
  own?: OwnForm
  /** Does it run at the vendor? Only targets that know `own` can have it. */
  isHosted?: true
}

/** A tool whose input is text. */
export interface FreeFormTool {
  type: 'free-form'
  name: string
  description?: string
  /** The grammar of its input. */
  grammar?: { syntax: 'lark' | 'regex'; definition: string }
}

/** A web search that runs at the provider. */
export interface WebSearchTool {
  type: 'web-search'
  contextSize?: 'low' | 'medium' | 'high'
  location?: { city?: string; region?: string; country?: string; timezone?: string }
  allowedDomains?: string[]
  blockedDomains?: string[]
  maxUses?: number
}

export type Tool = FunctionTool | FreeFormTool | WebSearchTool

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | { type: 'tool'; name: string }
  | { type: 'allowed'; mode: 'auto' | 'required'; names: string[] }

/** Is it a tool that runs at the vendor? */
export const isHosted = (tool: Tool): tool is FunctionTool => tool.type === 'function' && tool.isHosted === true

/** A tool that runs at the client's own vendor and that no other format has. Parsers leave it out of the canonical request. */
export interface VendorTool {
  type: 'vendor'
  /** The name by which a tool choice of the client forces the tool. */
  name?: string
  /** The message when it is refused. */
  refusal: string
}

/** A tool as a client offers it. Parsers place a vendor tool with the path of its type as the field `kind`. */
export type OfferedTool = Tool | VendorTool

/** A call of a tool that ran at its vendor, as a part. */
export const hostedPart = (id: string, hosted: HostedCall): ServerToolPart => ({
  type: 'server-tool',
  tool: 'hosted',
  id,
  query: '',
  results: [],
  hosted,
})

/** Leaves out the tools that only the client's own vendor runs. */
export function withoutVendorTools(
  tools: readonly OfferedTool[],
  choice: ToolChoice | undefined,
  warnings: Warnings,
): Tool[] {
  return withoutTools(tools, {
    choice,
    warnings,
    isLacking: (tool) => tool.type === 'vendor',
    isForced: ({ name }) => choice?.type === 'tool' && choice.name === name,
    refuse: (tool) => warnings.refuse(warnings.pathOf(tool, 'tools', 'kind'), tool.refusal),
  })
}

interface Rules<T, L extends T> {
  choice: ToolChoice | undefined
  warnings: Warnings
  /** Does the target lack this tool? */
  isLacking(tool: T): tool is L
  isForced(tool: L): boolean
  refuse(tool: L): never
}

/**
 * Drops the tools that the target lacks, each with a warning. Refuses the request if one of them is forced or no other tool is left. With the
 * choice `none` they are left out without a warning, since none of them may be called.
 */
export function withoutTools<T extends object, L extends T>(
  tools: readonly T[],
  { choice, warnings, isLacking, isForced, refuse }: Rules<T, L>,
): Exclude<T, L>[] {
  const kept = tools.filter((tool): tool is Exclude<T, L> => !isLacking(tool))
  if (kept.length === tools.length || choice?.type === 'none') return kept
  for (const tool of tools) {
    if (!isLacking(tool)) continue
    if (kept.length === 0 || isForced(tool)) refuse(tool)
    warnings.noteDropped(warnings.pathOf(tool, 'tools'))
  }
  return kept
}

/** The declared tools in a list of the request, each labelled by `nameTool`. */
export function toolsIn(owner: Fields, name: string, warnings: Warnings): Fields[] {
  const path = owner.path(name)
  return (owner.list(name) ?? []).map((entry, index) => {
    const tool = elementFields(entry, `${path}[${index}]`, warnings)
    nameTool(tool, warnings)
    return tool
  })
}

/** Labels the path of a declared tool with its name, or else its type, for the refusals of it and of its fields. */
export function nameTool({ value, at }: Fields, warnings: Warnings): void {
  const callee = [value, value.function, value.custom].find((part) => isObject(part) && typeof part.name === 'string')
  const name = isObject(callee) ? callee.name : value.type
  if (typeof name === 'string') warnings.label(at, `tool "${name.slice(0, MAX_LENGTH)}"`)
}

const MAX_LENGTH = 100
