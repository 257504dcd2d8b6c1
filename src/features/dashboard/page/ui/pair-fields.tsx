import { bindField, Rows, TextField } from './forms.tsx'

/** A name and its value, as form state. */
export interface Pair {
  title: string
  text: string
}

export const toPairs = (values: object = {}): Pair[] =>
  Object.entries(values).map(([title, value]) => ({ title, text: String(value) }))

/** Converts pairs to an object. Returns `null` if there are none. */
export const fromPairs = <Value,>(
  pairs: readonly Pair[],
  parse: (text: string) => Value,
): Record<string, Value> | null =>
  pairs.length > 0 ? Object.fromEntries(pairs.map(({ title, text }) => [title.trim(), parse(text)])) : null

/** Converts a tag's text to its value. */
export const readTag = (text: string): string | boolean => (text === 'true' ? true : text === 'false' ? false : text)

interface PairFieldsProps {
  title: string
  /** The API field that contains these pairs. */
  path: string
  /** The noun for a pair in button labels. */
  noun?: string
  hint?: string
  of: { value: Pair[] }
}

/** Renders fields for pairs of names and values. By default, these are tags. */
export const PairFields = ({
  title,
  path,
  noun = 'tag',
  hint = 'Such as region: eu, or zdr: true.',
  of,
}: PairFieldsProps) => (
  <fieldset>
    <legend>{title}</legend>
    <Rows of={of} emptyRow={{ title: '', text: '' }} addLabel={`Add ${noun}`} noun={noun}>
      {(row) => (
        <>
          <TextField label="Key" path={path} required of={bindField(row, 'title')} />
          <TextField
            label="Value"
            path={`${path}.${row.value.title}`}
            type={path === 'headers' ? 'password' : 'text'}
            of={bindField(row, 'text')}
          />
        </>
      )}
    </Rows>
    <p class="hint">{hint}</p>
  </fieldset>
)
