import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { shown } from '../format.ts'
import { common } from '../texts/frame.ts'
import { Button, safe } from './basics.tsx'

/** A part of a view, with its heading and what stands beside it. */
export function Section({
  title,
  beside,
  children,
}: {
  title: string
  beside?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <div class="tools">
        <h2 id={id} class="grow">
          {title}
        </h2>
        {beside}
      </div>
      {children}
    </section>
  )
}

/** Named facts; those that are `undefined` are left out. */
export const Facts = ({ of }: { of: ReadonlyArray<readonly [name: string, value: ComponentChildren]> }) => (
  <dl class="facts">
    {of.map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{safe(value)}</dd>
          </div>
        ),
    )}
  </dl>
)

/** Figures at the head of a view. */
export const Cards = ({ of }: { of: ReadonlyArray<readonly [name: string, value: string, note?: string]> }) => (
  <ul class="cards">
    {of.map(([name, value, note]) => (
      <li key={name} class="card">
        <div class="figure">{value}</div>
        <div class="label">{name}</div>
        {note && <div class="label">{note}</div>}
      </li>
    ))}
  </ul>
)

/** How many dialogs there are: two while one follows another. */
let dialogs = 0
/** What had the focus before the first of them. */
let opener: Element | null = null

/** A dialog that holds the focus, and gives it back. Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before it is painted: Escape is lost while a dialog is there and not yet open.
  useLayoutEffect(() => {
    if (dialogs++ === 0) opener = document.activeElement
    dialog.current?.showModal()
  }, [])
  // Once it is gone: what is behind an open dialog cannot have the focus.
  useEffect(
    () => () => {
      if (--dialogs === 0 && opener instanceof HTMLElement) opener.focus()
    },
    [],
  )
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{shown(title)}</h2>
        <Button kind="quiet" onClick={() => dialog.current?.close()}>
          {common.close}
        </Button>
      </header>
      {children}
    </dialog>
  )
}
