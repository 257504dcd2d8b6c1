import type { PromptCaching } from '../../../../types/records/caching-fields.ts'
import { SelectField } from '../ui/forms.tsx'

/** The `promptCaching` setting as form state. Empty if it isn't set. */
export type CachingChoice = '' | 'off' | 'auto' | '1h'

export function toCachingChoice(caching: PromptCaching | undefined): CachingChoice {
  if (caching === undefined || typeof caching === 'string') return caching ?? ''
  return caching.ttl === '1h' ? '1h' : 'auto'
}

/** Converts the choice to the setting; `null` removes it. */
export const fromCachingChoice = (choice: CachingChoice): PromptCaching | null =>
  choice === '1h' ? { mode: 'auto', ttl: '1h' } : choice || null

interface CachingFieldProps {
  of: { value: CachingChoice }
  /** The label of the choice that leaves the setting unset. */
  inherited: string
  path?: string
}

export const CachingField = ({ of, inherited, path = 'promptCaching' }: CachingFieldProps) => (
  <SelectField
    label="Prompt caching"
    path={path}
    of={of}
    options={[
      ['', inherited],
      ['off', 'Off'],
      ['auto', 'Automatic'],
      ['1h', 'Automatic, tools and instructions for 1 hour'],
    ]}
  />
)
