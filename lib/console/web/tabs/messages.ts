/** A new tab asks for a token. The broker answers on the port of the message. */
export interface Asking {
  readonly kind: 'ask';
}

/** The broker asks an open tab. The tab answers on the port of the message. */
export interface Asked {
  readonly kind: 'asked';
}

/** The token of a tab; undefined if it has none, or does not give it. */
export type Given = string | undefined;

/** The answer to a message that carried the other port of the channel. */
export function answerOn(port: MessagePort): Promise<Given> {
  return new Promise((resolve) => {
    port.addEventListener('message', ({ data }: MessageEvent<Given>) => resolve(data), { once: true });
    port.start();
  });
}
