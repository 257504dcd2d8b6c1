import type { Traits } from '../../../traits.ts'
import type { FilePart, TextPart, UserPart } from '../parts.ts'
import type { Warnings } from '../warnings.ts'

/**
 * A document for a target that knows files only: one that is a text becomes just that, below its title; what is said about another one stands
 * before it. It is not cited.
 */
export function fitDocument<P extends UserPart>(
  part: P,
  { traits, warnings }: { traits: Traits; warnings: Warnings },
): (P | TextPart)[] {
  if (part.type !== 'file' || traits.documents) return [part]
  if (part.citable) warnings.dropped(warnings.pathOf(part, 'turns', 'citable'))
  const { source, name, context, cache } = part
  if (source.type === 'text') return [textPart([name, context, source.text], cache)]
  return context === undefined ? [part] : [textPart([context]), part]
}

function textPart(texts: readonly (string | undefined)[], cache?: FilePart['cache']): TextPart {
  const text = texts.filter((piece) => piece).join('\n\n')
  return cache ? { type: 'text', text, cache } : { type: 'text', text }
}
