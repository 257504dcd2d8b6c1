import { useSignal } from '../page-data.ts'
import { Button } from './basics.tsx'
import { TextArea } from './forms.tsx'

/** Copies text to the clipboard. Browsers allow this only over HTTPS or on localhost; elsewhere, the button shows the text and selects it. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const message = useSignal(label)
  const isShown = useSignal(false)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      message.value = 'Copied'
      setTimeout(() => {
        message.value = label
      }, 2_000)
    } catch {
      isShown.value = true
    }
  }
  return (
    <>
      <Button onClick={copy}>
        <span aria-live="polite">{message.value === 'Copied' ? message.value : label}</span>
      </Button>
      {isShown.value && (
        <TextArea
          label="Your browser blocked copying. Press Ctrl+C or ⌘C."
          rows={2}
          class="mono"
          readOnly
          isSelected
          of={{ value: text }}
        />
      )}
    </>
  )
}
