import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { getEntry } from '../../../../lib/maps.ts'
import type { ProviderFormat } from '../../../../types.ts'
import { createBase64Source } from '../../canonical/canonical-media.ts'
import type { HostedCall, ImagePart } from '../../canonical/canonical-parts.ts'
import type { FunctionTool } from '../../canonical/canonical-tools.ts'

/*
 * Tools that a vendor runs, for targets that use the vendor's format. Translates their declarations, and writes their calls and results with the
 * names that the AI SDK's own packages use.
 */

/** Converts a tool declaration to its vendor's names. Returns `undefined` for unknown tools, and for targets with another format. */
export function parseHostedTool(
  id: string,
  args: JsonObject,
  format: ProviderFormat | undefined,
): FunctionTool | undefined {
  const [vendor, type = ''] = id.split('.', 2)
  const value = format === formatByVendor[vendor ?? ''] ? convertersByVendor[vendor ?? '']?.(type, args) : undefined
  if (!value || (format !== 'anthropic-messages' && format !== 'openai-responses' && format !== 'gemini'))
    return undefined
  const name = typeof value.name === 'string' ? value.name : type
  return { type: 'function', name, isHosted: true, native: { format, value } }
}

const formatByVendor: Readonly<Record<string, ProviderFormat>> = {
  anthropic: 'anthropic-messages',
  openai: 'openai-responses',
  google: 'gemini',
}

const convertersByVendor: Readonly<Record<string, (type: string, args: JsonObject) => JsonObject | undefined>> = {
  anthropic(type, args) {
    const [, kind, date] =
      /^(code_execution|web_fetch|tool_search_bm25|tool_search_regex|advisor)_(\d+)$/.exec(type) ?? []
    const name = kind?.replace('tool_search', 'tool_search_tool')
    return name === undefined ? undefined : { type: `${name}_${date}`, name, ...snakeCaseKeys(args) }
  },
  openai(type, args) {
    switch (type) {
      case 'code_interpreter': {
        const { container } = args
        return {
          type,
          container: typeof container === 'string' ? container : { type: 'auto', ...snakeCaseKeys(container) },
        }
      }
      case 'file_search': {
        const { ranking, ...others } = args
        return { type, ...snakeCaseKeys(others), ...(isObject(ranking) && { ranking_options: snakeCaseKeys(ranking) }) }
      }
      case 'image_generation':
        return { type, ...snakeCaseKeys(args) }
      case 'mcp': {
        const approval = args.requireApproval ?? 'never' // clients don't support OpenAI's approval requests
        return approval === 'never' ? { type, ...snakeCaseKeys(args), require_approval: approval } : undefined
      }
      default:
        return undefined
    }
  },
  google: (type, args) =>
    /^(?:code_execution|url_context|google_maps|enterprise_web_search|file_search)$/.test(type)
      ? { [toCamelCase(type)]: args }
      : undefined,
}

/**
 * Writes a call for a client. `names` maps the vendor's tool names to the client's. Marks a tool as `dynamic` if the client didn't offer it, such as
 * an MCP server's tool or the code that runs a search.
 */
export function writeHostedCall({ name, input, result, isError }: HostedCall, names: Readonly<Record<string, string>>) {
  const [, shell, tool = name] = /^(bash_|text_editor_)?(code_execution)$/.exec(name) ?? []
  const isCode = tool === 'code_execution' && typeof input.code === 'string' && input.language === undefined
  const type = shell ? name : isCode ? 'programmatic-tool-call' : undefined
  const clientName = getEntry(names, tool)
  return {
    tool: { toolName: clientName ?? tool, ...(clientName === undefined && { dynamic: true as const }) },
    input: type ? { type, ...input } : input,
    result: tool === 'code_execution' && !isError ? result : camelCaseKeys(unwrapToolSearch(result)),
    ...(isError && { isError }),
  }
}

const IMAGE_TOOL = 'image_generation'

/** Creates a call to OpenAI's image tool with the image as its result, if the client offered that tool. */
export const createImageCall = (
  { source }: ImagePart,
  names: Readonly<Record<string, string>>,
): HostedCall | undefined =>
  source.type === 'base64' && getEntry(names, IMAGE_TOOL) !== undefined
    ? { name: IMAGE_TOOL, input: {}, result: { result: source.data } }
    : undefined

/** Parses an image that a client sends back as the result of OpenAI's image tool. */
export function parseImageResult(result: unknown): ImagePart | undefined {
  if (!isObject(result) || typeof result.result !== 'string') return undefined
  const source = createBase64Source('', result.result)
  return source.mediaType.startsWith('image/') ? { type: 'image', source } : undefined
}

/** Returns the list in the result of Anthropic's tool search. */
const unwrapToolSearch = (result: unknown): unknown =>
  isObject(result) && Array.isArray(result.tool_references) ? result.tool_references : result

const toCamelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Converts all keys to camel case, except user-defined file attribute names. */
function camelCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCaseKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      toCamelCase(name),
      name === 'attributes' ? inner : camelCaseKeys(inner),
    ]),
  )
}

/** Converts names such as `displayWidthPx` to `display_width_px`, including names in inner objects, but not in HTTP headers. */
export function snakeCaseKeys(value: unknown): JsonObject {
  const convert = (name: string, nestedValue: unknown): unknown => {
    if (Array.isArray(nestedValue)) return nestedValue.map((item) => convert(name, item))
    return isObject(nestedValue) && name !== 'headers' ? snakeCaseKeys(nestedValue) : nestedValue
  }
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, inner]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      convert(name, inner),
    ]),
  )
}
