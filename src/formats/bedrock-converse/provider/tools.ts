import { assertNever } from '../../../lib/assert-never.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../canonical/tools.ts'
import { strictSchema } from '../../strict-schema.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireRequest, WireTool, WireToolChoice } from '../wire.ts'
import { writeMark } from './conversation.ts'

/** Writes the tools and the tool choice; `undefined` without tools. */
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
  const path = warnings.pathOf(tool, 'tools')
  if (tool.type !== 'function') return warnings.refuse(path, 'the target has functions only.')
  const { name, description, schema, strict, outputSchema, cache } = tool
  if (outputSchema) warnings.noteDropped(warnings.pathOf(tool, 'tools', 'outputSchema'))
  const json = { ...(schema ?? { properties: {} }), type: 'object' }
  const spec = {
    name,
    ...(description && { description }),
    inputSchema: { json: strict ? strictSchema(json, (change) => warnings.noteChanged(path, change)) : json },
    ...(strict && { strict }),
  }
  return [{ toolSpec: spec }, ...writeMark(cache, target)]
}

function writeChoice(choice: ToolChoice, { traits, warnings }: TargetContext): WireToolChoice | undefined {
  switch (choice.type) {
    case 'auto': // the default; models without a choice refuse the field
      return traits.toolChoices.length > 0 ? { auto: {} } : undefined
    case 'required':
      return { any: {} }
    case 'tool':
      return { tool: { name: choice.name } }
    case 'none':
    case 'allowed':
      return warnings.refuse('toolChoice', 'the target cannot be told which tools not to call.')
    default:
      return assertNever(choice)
  }
}
