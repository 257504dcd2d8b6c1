import { defined } from '../canonical/defined.ts'
import type { TextPart, UserPart } from '../canonical/parts.ts'
import type { ToolResult } from '../canonical/turns.ts'
import type { TargetContext } from '../translator.ts'
import { wireMark } from './marks.ts'
import { documentSource, imageSource } from './media.ts'
import type { WireTextParam, WireToolResult, WireUserBlock } from './wire-request.ts'

/** What a user or a tool says. Text of nothing but blanks is refused by Anthropic, so that it is left out. */
export function writePart(part: UserPart, target: TargetContext): WireUserBlock[] {
  const { warnings } = target
  const marks = wireMark(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return writeText(part, target)
    case 'image':
      if (part.detail && part.detail !== 'auto') warnings.dropped(warnings.pathOf(part, 'image', 'detail'))
      return [{ type: 'image', source: imageSource(part, target), ...marks }]
    case 'file': {
      const { name: title, context, citable } = part
      const source = documentSource(part, target)
      return [{ type: 'document', source, ...defined({ title, context }), ...wireCitable(citable), ...marks }]
    }
    case 'search-result': {
      const { source, title, citable } = part
      const content = part.content.flatMap((text) => writeText(text, target))
      return [{ type: 'search_result', source, title, content, ...wireCitable(citable), ...marks }]
    }
    case 'audio':
    case 'video':
      return warnings.refuse(warnings.pathOf(part, part.type), `the target takes no ${part.type}.`)
  }
}

export function writeText({ text, cache }: TextPart, target: TargetContext): WireTextParam[] {
  return isBlank(text) ? [] : [{ type: 'text', text, ...wireMark(cache, target) }]
}

export function writeResult({ callId, content, isError, cache }: ToolResult, target: TargetContext): WireToolResult {
  const blocks = content.flatMap((part) => writePart(part, target))
  return {
    type: 'tool_result',
    tool_use_id: callId,
    ...(blocks.length > 0 && { content: blocks }),
    ...(isError && { is_error: true }),
    ...wireMark(cache, target),
  }
}

export const isBlank = (text: string): boolean => text.trim() === ''

const wireCitable = (citable: boolean | undefined) => (citable ? { citations: { enabled: true } as const } : {})
