import { useId } from 'preact/hooks'
import { useData } from '../page-data.ts'
import { api } from '../session.ts'
import { Suggestions, TextField } from './forms.tsx'

interface KeyFieldProps {
  label: string
  hint?: string
  path?: string
  of: { value: string }
}

const MAX_SUGGESTIONS = 20

const search = async (q: string, limit: number) => (await api.value.keys.list({ q, limit, values: 'none' })).keys

/** Renders a field for a key's name or ID. Because there may be many keys, the gateway searches them. */
export function KeyField(props: KeyFieldProps) {
  const id = useId()
  const { state } = useData(() => search(props.of.value.trim(), MAX_SUGGESTIONS))
  return (
    <>
      <TextField {...props} list={id} />
      <Suggestions id={id} of={state.value.value?.map((key) => [key.id, key.name] as const)} />
    </>
  )
}

/** Finds the ID of the key with this name or ID. Returns the input if no key matches, so the gateway reports it as unknown. */
export async function findKey(text: string): Promise<string> {
  if (text === '') return ''
  const keys = await search(text, 1_000)
  return (keys.find(({ id }) => id === text) ?? keys.find(({ name }) => name === text))?.id ?? text
}
