import { isObject, type JsonObject } from '../../../lib/json.ts'
import { type Fields, readElementFields } from './canonical-fields.ts'
import type { CacheBreakpoint, HostedCall, NativeValue, ServerToolPart } from './canonical-parts.ts'
import { omitUndefined } from './canonical-values.ts'
import type { Warnings } from './canonical-warnings.ts'

export interface FunctionTool {
  type: 'function'
  name: string
  description?: string
  /** The input's JSON Schema, with keys in the client's order. Absent if the tool has no input. */
  schema?: JsonObject
  outputSchema?: JsonObject
  /** Absent means not set. Formats have different defaults, so writers send `false` where absence means true. */
  strict?: boolean
  /** Example inputs, for Anthropic targets. */
  examples?: JsonObject[]
  cache?: CacheBreakpoint
  /** The vendor's own declaration for a tool that the client's vendor defines. */
  native?: NativeValue
  /** Set if the vendor runs the tool. Only targets that recognize `native` support it. */
  isHosted?: true
}

/** A tool with free-text input. */
export interface FreeFormTool {
  type: 'free-form'
  name: string
  description?: string
  grammar?: { syntax: 'lark' | 'regex'; definition: string }
}

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

/** Returns whether the vendor runs the tool. */
export const isHostedTool = (tool: Tool): tool is FunctionTool => tool.type === 'function' && tool.isHosted === true

/** A tool that the client's own vendor runs and no other format supports. Parsers omit it from the canonical request. */
export interface VendorTool {
  type: 'vendor'
  /** The name by which a tool choice can force it. */
  name?: string
  /** The error message if the tool is rejected. */
  rejectionReason: string
}

/** A tool that a client offers. Parsers register the path of a vendor tool's `type` under the name `kind`. */
export type OfferedTool = Tool | VendorTool

/** Creates the part for a call to a vendor-run tool. */
export const createHostedToolPart = (id: string, call: HostedCall): ServerToolPart => ({
  type: 'server-tool',
  tool: 'hosted',
  id,
  query: '',
  results: [],
  hosted: call,
})

/** Drops the tools that only the client's own vendor can run. */
export function dropVendorTools(
  tools: readonly OfferedTool[],
  choice: ToolChoice | undefined,
  warnings: Warnings,
): Tool[] {
  return dropTools(tools, {
    choice,
    warnings,
    isUnsupported: (tool) => tool.type === 'vendor',
    isForced: ({ name }) => choice?.type === 'tool' && choice.name === name,
    reject: (tool) => warnings.reject(warnings.getPath(tool, 'tools', 'kind'), tool.rejectionReason),
  })
}

interface DropRules<T, L extends T> {
  choice: ToolChoice | undefined
  warnings: Warnings
  isUnsupported(tool: T): tool is L
  isForced(tool: L): boolean
  reject(tool: L): never
}

/**
 * Drops the tools that the target doesn't support, each with a warning. Rejects the request if one of them is forced or no other tool is left. If the
 * tool choice is `none`, drops them without a warning, because no tool may be called.
 */
export function dropTools<T extends object, L extends T>(
  tools: readonly T[],
  { choice, warnings, isUnsupported, isForced, reject }: DropRules<T, L>,
): Exclude<T, L>[] {
  const supportedTools = tools.filter((tool): tool is Exclude<T, L> => !isUnsupported(tool))
  if (supportedTools.length === tools.length || choice?.type === 'none') return supportedTools
  for (const tool of tools) {
    if (!isUnsupported(tool)) continue
    if (supportedTools.length === 0 || isForced(tool)) reject(tool)
    warnings.recordDrop(warnings.getPath(tool, 'tools'))
  }
  return supportedTools
}

/** Reads the declared tools in one of the request's lists. `labelTool` labels each of them. */
export function readTools(parent: Fields, name: string, warnings: Warnings): Fields[] {
  const path = parent.getPath(name)
  return (parent.list(name) ?? []).map((entry, index) => {
    const tool = readElementFields(entry, `${path}[${index}]`, warnings)
    labelTool(tool, warnings)
    return tool
  })
}

/** Labels the path of a declared tool with its name or type, for errors about the tool and its fields. */
export function labelTool({ value, path }: Fields, warnings: Warnings): void {
  const definition = [value, value.function, value.custom].find(
    (part) => isObject(part) && typeof part.name === 'string',
  )
  const name = isObject(definition) ? definition.name : value.type
  if (typeof name === 'string') warnings.setLabel(path, `tool "${name.slice(0, MAX_NAME_LENGTH)}"`)
}

const MAX_NAME_LENGTH = 100

/** Reads the user's location for a web search. */
export const readLocation = (fields: Fields | undefined): WebSearchTool['location'] =>
  fields &&
  omitUndefined<NonNullable<WebSearchTool['location']>>({
    city: fields.string('city'),
    region: fields.string('region'),
    country: fields.string('country'),
    timezone: fields.string('timezone'),
  })
