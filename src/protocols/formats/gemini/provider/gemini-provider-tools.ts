import { assertNever } from '../../../../lib/assert-never.ts'
import {
  type FunctionTool,
  isHostedTool,
  type Tool,
  type ToolChoice,
  type WebSearchTool,
} from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireCallingConfig, WireDeclaration, WireTool, WireToolConfig } from '../gemini-wire.ts'
import { toOpenApiSchema } from './gemini-provider-schema.ts'

/** Writes `tools`. Google requires all functions to be in one entry. */
export function writeTools(tools: readonly Tool[], target: TargetContext): WireTool[] | undefined {
  const functions = tools.flatMap((tool) => (isFunction(tool) ? [writeFunction(tool, target)] : []))
  const search = tools.find((tool) => tool.type === 'web-search')
  const wireTools: WireTool[] = [
    ...(functions.length > 0 ? [{ functionDeclarations: functions }] : []),
    ...(search ? [writeSearch(search, target)] : []),
    ...tools.flatMap((tool) => (isHostedTool(tool) && tool.native ? [tool.native.value as WireTool] : [])),
  ]
  return wireTools.length > 0 ? wireTools : undefined
}

/** Returns whether the tool is a function that the client runs. */
const isFunction = (tool: Tool): tool is FunctionTool => tool.type === 'function' && !tool.isHosted

function writeFunction(tool: FunctionTool, target: TargetContext): WireDeclaration {
  const { name, description, outputSchema } = tool
  const schema = tool.schema && Object.keys(tool.schema).length > 0 ? tool.schema : undefined
  if (target.traits.schema === 'json-schema')
    return omitUndefined({ name, description, parametersJsonSchema: schema, responseJsonSchema: outputSchema })
  const { warnings } = target
  const toolPath = warnings.getPath(tool, `tools.${name}`)
  const parameters = schema && toOpenApiSchema(schema, (path) => warnings.recordDrop(`${toolPath}.${path}`))
  const response =
    outputSchema && toOpenApiSchema(outputSchema, (path) => warnings.recordDrop(`${toolPath}.output.${path}`))
  // Google rejects an object without properties, but not a function without parameters.
  return omitUndefined({ name, description, parameters: parameters?.properties ? parameters : undefined, response })
}

function writeSearch(tool: WebSearchTool, { warnings }: TargetContext): WireTool {
  const getFieldPath = (field: string) => warnings.getPath(tool, 'tools', field)
  if (tool.allowedDomains)
    warnings.reject(getFieldPath('allowedDomains'), 'the target cannot limit a search to certain domains.')
  if (tool.contextSize) warnings.recordDrop(getFieldPath('contextSize'))
  if (tool.location) warnings.recordDrop(getFieldPath('location'))
  if (tool.maxUses !== undefined) warnings.recordDrop(getFieldPath('maxUses'))
  const { blockedDomains } = tool
  return { googleSearch: blockedDomains ? { excludeDomains: blockedDomains } : {} }
}

/** Writes `toolConfig`. If search is combined with functions, the Gemini API must be told to report searches, and it rejects the `AUTO` mode. */
export function writeToolConfig(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  target: TargetContext,
): WireToolConfig | undefined {
  const callingConfig = writeToolChoice(choice, tools, target)
  const mixesToolKinds = tools.some(isFunction) && !tools.every(isFunction) && target.traits.reportsSearches
  if (!mixesToolKinds) return callingConfig && { functionCallingConfig: callingConfig }
  return omitUndefined<WireToolConfig>({
    functionCallingConfig: callingConfig?.mode === 'AUTO' ? { mode: 'VALIDATED' } : callingConfig,
    includeServerSideToolInvocations: true,
  })
}

/** Writes `functionCallingConfig`. Google rejects it if there are no functions, and only accepts function names in restrictive modes. */
function writeToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { warnings }: TargetContext,
): WireCallingConfig | undefined {
  if (!choice) return undefined
  const hasFunctions = tools.some(isFunction)
  const choosesHostedTool =
    choice.type === 'tool' && tools.some((tool) => isHostedTool(tool) && tool.name === choice.name)
  if (!hasFunctions || choosesHostedTool) {
    if (choice.type !== 'auto') warnings.recordDrop('toolChoice')
    return hasFunctions ? { mode: 'AUTO' } : undefined
  }
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      return { mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: choice.names }
    default:
      return assertNever(choice)
  }
}
