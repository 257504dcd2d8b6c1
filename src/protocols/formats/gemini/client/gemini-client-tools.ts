import { type Fields, readObjectList } from '../../canonical/canonical-fields.ts'
import {
  dropVendorTools,
  type FunctionTool,
  labelTool,
  type OfferedTool,
  type Tool,
  type ToolChoice,
  type WebSearchTool,
} from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { toJsonSchema } from './gemini-client-schema.ts'

/** Parses `tools`. Each entry may contain functions and Google's own tools. Google's web search is the only one of those that can be translated. */
export function parseTools(body: Fields, choice: ToolChoice | undefined, warnings: Warnings): Tool[] {
  const offeredTools = readObjectList(body, 'tools', warnings).flatMap((tool) => {
    const functions = readObjectList(tool, 'functionDeclarations', warnings).map((declaration) => {
      labelTool(declaration, warnings)
      return parseFunction(declaration, warnings)
    })
    return [...functions, ...parseVendorTools(tool, warnings)]
  })
  return dropVendorTools(offeredTools, choice, warnings)
}

/** Parses Google's own tools in one entry. A single tool has the entry's path. */
function parseVendorTools(entry: Fields, warnings: Warnings): OfferedTool[] {
  const names = Object.keys(entry.value).filter((name) => entry.any(name) !== undefined)
  return names.flatMap((name): OfferedTool[] => {
    if (name === 'functionDeclarations') return []
    const path = names.length === 1 ? entry.path : entry.getPath(name)
    const toolPath = entry.getPath(name)
    warnings.setLabel(toolPath, `tool "${name}"`)
    warnings.setLabel(path, `tool "${name}"`)
    const tool: OfferedTool = SEARCH_TOOLS.has(name)
      ? parseSearch(entry.fields(name))
      : { type: 'vendor', rejectionReason: 'this tool only works with Google.' }
    warnings.setPath(tool, path, { kind: `/${toolPath}`, blockedDomains: `/${toolPath}.excludeDomains` })
    return [tool]
  })
}

const SEARCH_TOOLS: ReadonlySet<string> = new Set(['googleSearch', 'googleSearchRetrieval'])

function parseFunction(declaration: Fields, warnings: Warnings): FunctionTool {
  const parameters = declaration.object('parameters')
  const response = declaration.object('response')
  const tool = omitUndefined<FunctionTool>({
    type: 'function',
    name: declaration.string('name') ?? warnings.reject(declaration.getPath('name'), 'is required.'),
    description: declaration.string('description'),
    schema: declaration.object('parametersJsonSchema') ?? (parameters && toJsonSchema(parameters)),
    outputSchema: declaration.object('responseJsonSchema') ?? (response && toJsonSchema(response)),
  })
  declaration.dropUnread()
  warnings.setPath(tool, declaration.path, {
    schema: parameters ? 'parameters' : 'parametersJsonSchema',
    outputSchema: response ? 'response' : 'responseJsonSchema',
  })
  return tool
}

function parseSearch(search: Fields | undefined): WebSearchTool {
  const blockedDomains = search?.strings('excludeDomains')
  search?.dropUnread()
  return omitUndefined<WebSearchTool>({ type: 'web-search', blockedDomains })
}

/** Parses `toolConfig`: whether a function must be called, and which. */
export function parseToolChoice(body: Fields, warnings: Warnings): ToolChoice | undefined {
  const config = body.fields('toolConfig')
  const callingConfig = config?.fields('functionCallingConfig')
  config?.ignore('includeServerSideToolInvocations')
  config?.dropUnread()
  if (!callingConfig) return undefined
  const names = callingConfig.strings('allowedFunctionNames') ?? []
  const mode = callingConfig.string('mode')?.toUpperCase()
  callingConfig.ignore('streamFunctionCallArguments') // calls are always written in full
  callingConfig.dropUnread()
  switch (mode) {
    case undefined:
    case 'MODE_UNSPECIFIED':
      return undefined
    case 'NONE':
      return { type: 'none' }
    case 'AUTO':
    case 'VALIDATED':
      return names.length > 0 ? { type: 'allowed', mode: 'auto', names } : { type: 'auto' }
    case 'ANY': {
      const [name, ...otherNames] = names
      if (name === undefined) return { type: 'required' }
      return otherNames.length === 0 ? { type: 'tool', name } : { type: 'allowed', mode: 'required', names }
    }
    default:
      return warnings.reject(callingConfig.getPath('mode'), 'must be AUTO, ANY, NONE, or VALIDATED.')
  }
}
