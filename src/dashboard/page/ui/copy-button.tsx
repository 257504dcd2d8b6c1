import { useSignal } from '../data.ts'
import { common } from '../texts/frame.ts'
import { Button } from './basics.tsx'
import { TextArea } from './forms.tsx'

/**
 * Copies a text, and says so. Browsers let pages of plain http, but for those of this machine, copy nothing: there the text is shown, selected.
 */
export function CopyButton({ text, label = common.copy }: { text: string; label?: string }) {
  const said = useSignal(label)
  const isShown = useSignal(false)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      said.value = common.copied
      setTimeout(() => {
        said.value = label
      }, 2_000)
    } catch {
      isShown.value = true
    }
  }
  return (
    <>
      <Button onClick={copy}>
        <span aria-live="polite">{said.value === common.copied ? said.value : label}</span>
      </Button>
      {isShown.value && (
        <TextArea label={common.selected} rows={2} class="mono" readOnly isSelected of={{ value: text }} />
      )}
    </>
  )
}
