import { isObject, type JsonObject } from '../../../lib/json.ts'
import { entryOf } from '../../../lib/maps.ts'
import type { ProviderFormat } from '../../../types.ts'
import { base64Source } from '../../canonical/media.ts'
import type { HostedCall, ImagePart } from '../../canonical/parts.ts'
import type { FunctionTool } from '../../canonical/tools.ts'

/*
 * Tools that run at a vendor, for targets of that vendor's format: their declarations, and their calls and results in the names of the AI SDK's
 * own packages.
 */

/** The declaration of a tool in the words of its vendor; `undefined` for unknown tools, and for targets of another format. */
export function hostedTool(id: string, args: JsonObject, format: ProviderFormat | undefined): FunctionTool | undefined {
  const [vendor, type = ''] = id.split('.', 2)
  const value = format === formats[vendor ?? ''] ? declare[vendor ?? '']?.(type, args) : undefined
  if (!value || (format !== 'anthropic-messages' && format !== 'openai-responses' && format !== 'gemini'))
    return undefined
  const name = typeof value.name === 'string' ? value.name : type
  return { type: 'function', name, isHosted: true, own: { format, value } }
}

const formats: Readonly<Record<string, ProviderFormat>> = {
  anthropic: 'anthropic-messages',
  openai: 'openai-responses',
  google: 'gemini',
}

const declare: Readonly<Record<string, (type: string, args: JsonObject) => JsonObject | undefined>> = {
  anthropic(type, args) {
    const [, kind, date] =
      /^(code_execution|web_fetch|tool_search_bm25|tool_search_regex|advisor)_(\d+)$/.exec(type) ?? []
    const name = kind?.replace('tool_search', 'tool_search_tool')
    return name === undefined ? undefined : { type: `${name}_${date}`, name, ...snakeCased(args) }
  },
  openai(type, args) {
    switch (type) {
      case 'code_interpreter': {
        const { container } = args
        return {
          type,
          container: typeof container === 'string' ? container : { type: 'auto', ...snakeCased(container) },
        }
      }
      case 'file_search': {
        const { ranking, ...others } = args
        return { type, ...snakeCased(others), ...(isObject(ranking) && { ranking_options: snakeCased(ranking) }) }
      }
      case 'image_generation':
        return { type, ...snakeCased(args) }
      case 'mcp': {
        const approval = args.requireApproval ?? 'never' // a client does not get OpenAI's requests for approval
        return approval === 'never' ? { type, ...snakeCased(args), require_approval: approval } : undefined
      }
      default:
        return undefined
    }
  },
  google: (type, args) =>
    /^(?:code_execution|url_context|google_maps|enterprise_web_search|file_search)$/.test(type)
      ? { [camelCased(type)]: args }
      : undefined,
}

/**
 * A call in the form that a client gets. `names`: the client's names of the tools by those of the vendor. A tool that the client did not offer is
 * marked as `dynamic`: one of an MCP server, or the code in which a search runs.
 */
export function shownCall({ name, input, result, isError }: HostedCall, names: Readonly<Record<string, string>>) {
  const [, shell, tool = name] = /^(bash_|text_editor_)?(code_execution)$/.exec(name) ?? []
  const isCode = tool === 'code_execution' && typeof input.code === 'string' && input.language === undefined
  const type = shell ? name : isCode ? 'programmatic-tool-call' : undefined
  const offered = entryOf(names, tool)
  return {
    tool: { toolName: offered ?? tool, ...(offered === undefined && { dynamic: true as const }) },
    input: type ? { type, ...input } : input,
    result: tool === 'code_execution' && !isError ? result : camelKeys(searched(result)),
    ...(isError && { isError }),
  }
}

const IMAGE = 'image_generation'

/** The image as the result of OpenAI's tool for images, if the client has offered it. */
export const generatedImage = (
  { source }: ImagePart,
  names: Readonly<Record<string, string>>,
): HostedCall | undefined =>
  source.type === 'base64' && entryOf(names, IMAGE) !== undefined
    ? { name: IMAGE, input: {}, result: { result: source.data } }
    : undefined

/** The image that a client returns as the result of OpenAI's tool. */
export function returnedImage(result: unknown): ImagePart | undefined {
  if (!isObject(result) || typeof result.result !== 'string') return undefined
  const source = base64Source('', result.result)
  return source.mediaType.startsWith('image/') ? { type: 'image', source } : undefined
}

/** The list in a result of Anthropic's search for tools. */
const searched = (result: unknown): unknown =>
  isObject(result) && Array.isArray(result.tool_references) ? result.tool_references : result

const camelCased = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Camel case for all names but those that a user has given to the attributes of a file. */
function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (!isObject(value)) return value
  const shown = (name: string, inner: unknown) => (name === 'attributes' ? inner : camelKeys(inner))
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camelCased(name), shown(name, inner)]))
}

/** `displayWidthPx` as `display_width_px`, in inner objects too, apart from the names of HTTP headers. */
export function snakeCased(value: unknown): JsonObject {
  const inner = (name: string, given: unknown): unknown => {
    if (Array.isArray(given)) return given.map((one) => inner(name, one))
    return isObject(given) && name !== 'headers' ? snakeCased(given) : given
  }
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, given]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      inner(name, given),
    ]),
  )
}
