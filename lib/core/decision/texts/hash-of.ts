const utf8 = new TextEncoder();

/** FNV-1a with 32 bits over the UTF-8 bytes of a name. Most names are ASCII, whose bytes are their units. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    const unit = name.charCodeAt(index);
    if (unit > 127) return hashOfBytes(utf8.encode(name));
    hash = Math.imul(hash ^ unit, 0x01000193);
  }
  return hash >>> 0;
}

function hashOfBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
