import { isObject, type JsonObject } from '../../../lib/json.ts'
import { findIgnoredKeyword } from '../../../lib/schema-keywords.ts'
import { isCallPart } from '../called-tools.ts'
import type { Guard, GuardPart, GuardVerdict } from '../guard.ts'
import type { BuiltInGuard } from './finding-guard.ts'

/** The maximum size of a request. */
export interface SizeRules {
  /** Maximum number of text characters in the request, excluding options and IDs. */
  readonly maxCharacters?: number
  /** Maximum number of messages. */
  readonly maxTurns?: number
  readonly maxTools?: number
  /** Maximum number of images, audio clips, and files. */
  readonly maxMedia?: number
}

/** Creates a guard that limits the size of requests. */
export function createSizeGuard(options: Pick<Guard, 'name'> & Partial<Guard> & SizeRules): BuiltInGuard {
  const {
    maxCharacters = Infinity,
    maxTurns = Infinity,
    maxTools = Infinity,
    maxMedia = Infinity,
    ...guardOptions
  } = options
  return {
    ...guardOptions,
    on: ['request'],
    older: 'refuse', // removing older text wouldn't help
    isImmediate: true,
    check: ({ parts }) => {
      const characterCount = parts.reduce((sum, { kind, text }) => sum + (COUNTED_KINDS.has(kind) ? text.length : 0), 0)
      return characterCount > maxCharacters ? { verdict: 'refuse', category: 'characters' } : undefined
    },
    checkBody(body, parts) {
      const turnCount = [body.messages, body.input, body.contents, body.prompt].find(Array.isArray)?.length ?? 0
      if (turnCount > maxTurns) return { verdict: 'refuse', category: 'turns' }
      if (listTools(body).length > maxTools) return { verdict: 'refuse', category: 'tools' }
      const mediaCount = parts.filter((part) => part.kind === 'media').length
      return mediaCount > maxMedia ? { verdict: 'refuse', category: 'media' } : undefined
    },
  }
}

const COUNTED_KINDS: ReadonlySet<GuardPart['kind']> = new Set([
  'text',
  'tool-call',
  'tool-result',
  'tool-definition',
  'reasoning',
])

/** The tools that requests may offer, by name. A `*` at the end of a name matches any suffix. */
export interface ToolRules {
  /** Default: all. */
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  /** Whether to reject tools that a provider runs, such as web search. Default: `pass`. */
  readonly hosted?: 'pass' | 'refuse'
  /** JSON Schemas by tool name. Calls whose arguments don't match are rejected. */
  readonly arguments?: Readonly<Record<string, JsonObject>>
}

/** Creates a guard that restricts the tools in requests and rejects calls to denied tools. */
export function createToolGuard(options: Pick<Guard, 'name'> & Partial<Guard> & ToolRules): BuiltInGuard {
  const { allow, deny = [], hosted = 'pass', arguments: schemas = {}, ...guardOptions } = options
  for (const [name, schema] of Object.entries(schemas)) {
    const keyword = findIgnoredKeyword(schema)
    if (keyword !== undefined)
      throw new TypeError(`tools().arguments.${name} has the keyword "${keyword}", which isn't supported.`)
  }
  const isAllowed = allow ? createNameTest(allow) : () => true
  const isDenied = createNameTest(deny)
  return {
    ...guardOptions,
    isImmediate: true,
    ...(Object.keys(schemas).length > 0 && { checksCalls: true as const }),
    async check({ parts, stage }) {
      if (stage === 'request') return undefined
      const deniedCall = parts.find((part) => part.kind === 'tool-call' && !isCallPart(part) && isDenied(part.text))
      if (deniedCall) return { verdict: 'refuse', category: 'tool', ids: [deniedCall.id] }
      for (const part of parts) {
        const schema = isCallPart(part) && Object.hasOwn(schemas, part.call.name) && schemas[part.call.name]
        if (!schema) continue
        const { matchesSchema } = await import('../../../lib/matches-schema.ts')
        const isValid = part.call.input !== undefined && matchesSchema(part.call.input, schema, { ifUnclear: false })
        if (!isValid) return { verdict: 'refuse', category: 'tool-arguments', ids: [part.id] }
      }
      return undefined
    },
    checkBody(body): GuardVerdict | undefined {
      for (const { name, isHosted } of listTools(body)) {
        if (isHosted && hosted === 'refuse') return { verdict: 'refuse', category: 'hosted-tool' }
        if (isDenied(name) || (!isHosted && !isAllowed(name))) return { verdict: 'refuse', category: 'tool' }
      }
      return undefined
    },
  }
}

function createNameTest(names: readonly string[]): (name: string) => boolean {
  const exactNames = new Set(names)
  const prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => exactNames.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** Returns whether a request offers tools that a provider runs. */
export const hasHostedTools = (body: JsonObject): boolean => listTools(body).some(({ isHosted }) => isHosted)

interface ListedTool {
  name: string
  isHosted: boolean
}

/** Lists the tools in a request in any format. Provider-run tools are listed under their type. */
function listTools({ tools, functions }: JsonObject): ListedTool[] {
  const allTools = [...toObjects(tools), ...toObjects(functions)]
  return allTools.flatMap((tool): ListedTool[] => {
    const declarations = toObjects(tool.functionDeclarations ?? tool.function_declarations)
    const definition = isObject(tool.function) ? tool.function : isObject(tool.custom) ? tool.custom : tool
    const { type = 'function' } = tool
    if (declarations.length > 0) return declarations.map(({ name }) => ({ name: String(name), isHosted: false }))
    if (typeof definition.name === 'string' && (type === 'function' || type === 'custom'))
      return [{ name: definition.name, isHosted: false }]
    if (typeof type === 'string' && type !== 'function')
      return [{ name: typeof tool.name === 'string' ? tool.name : type, isHosted: true }]
    return Object.keys(tool).map((name) => ({ name, isHosted: true })) // Google's tools, such as `googleSearch`
  })
}

const toObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
