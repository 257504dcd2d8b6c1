import { assertNever } from '../../../../lib/assert-never.ts'
import type { CanonicalRequest } from '../../canonical/canonical-request.ts'
import type { Tool, ToolChoice } from '../../canonical/canonical-tools.ts'
import { toStrictSchema } from '../../strict-schema.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireRequest, WireTool, WireToolChoice } from '../converse-wire.ts'
import { writeBreakpoint } from './converse-provider-conversation.ts'

/** Writes the tools and the tool choice. Returns `undefined` if there are no tools. */
export function writeToolConfig(
  { tools, toolChoice }: Pick<CanonicalRequest, 'tools' | 'toolChoice'>,
  target: TargetContext,
): WireRequest['toolConfig'] {
  if (tools.length === 0) return undefined
  const choice = toolChoice && writeChoice(toolChoice, target)
  return { tools: tools.flatMap((tool) => writeTool(tool, target)), ...(choice && { toolChoice: choice }) }
}

function writeTool(tool: Tool, target: TargetContext): WireTool[] {
  const { warnings } = target
  const path = warnings.getPath(tool, 'tools')
  if (tool.type !== 'function') return warnings.reject(path, 'the target only supports function tools.')
  const { name, description, schema, strict, outputSchema, cache } = tool
  if (outputSchema) warnings.recordDrop(warnings.getPath(tool, 'tools', 'outputSchema'))
  const json = { ...(schema ?? { properties: {} }), type: 'object' }
  const spec = {
    name,
    ...(description && { description }),
    inputSchema: { json: strict ? toStrictSchema(json, (change) => warnings.recordChange(path, change)) : json },
    ...(strict && { strict }),
  }
  return [{ toolSpec: spec }, ...writeBreakpoint(cache, target)]
}

function writeChoice(choice: ToolChoice, { traits, warnings }: TargetContext): WireToolChoice | undefined {
  switch (choice.type) {
    case 'auto': // this is the default, and models without tool choice reject the field
      return traits.toolChoices.length > 0 ? { auto: {} } : undefined
    case 'required':
      return { any: {} }
    case 'tool':
      return { tool: { name: choice.name } }
    case 'none':
    case 'allowed':
      return warnings.reject('toolChoice', 'the target does not support excluding tools.')
    default:
      return assertNever(choice)
  }
}
