-- C = A + B on blocks of 64 words: A comes first and is kept, and each word of B then gives a sum. TLAST stands at the
-- last sum of a block.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity add_blocks is
  generic (
    BLOCK_BITS : natural := 6
  );
  port (
    aclk    : in std_logic;
    aresetn : in std_logic;

    s_axis_tdata  : in  std_logic_vector(31 downto 0);
    s_axis_tvalid : in  std_logic;
    s_axis_tready : out std_logic;
    s_axis_tlast  : in  std_logic;

    m_axis_tdata  : out std_logic_vector(31 downto 0);
    m_axis_tvalid : out std_logic;
    m_axis_tready : in  std_logic;
    m_axis_tlast  : out std_logic
  );
end entity;

architecture rtl of add_blocks is
  type block_t is array (0 to 2**BLOCK_BITS - 1) of unsigned(31 downto 0);
  type state_t is (TAKE_A, TAKE_B);

  signal kept  : block_t;
  signal state : state_t;
  signal index : unsigned(BLOCK_BITS - 1 downto 0);
  signal sum   : unsigned(31 downto 0);
  signal valid : std_logic;
  signal last  : std_logic;
  signal room  : std_logic;
begin
  room          <= '1' when state = TAKE_A or valid = '0' or m_axis_tready = '1' else '0';
  s_axis_tready <= room;
  m_axis_tdata  <= std_logic_vector(sum);
  m_axis_tvalid <= valid;
  m_axis_tlast  <= last;

  process (aclk)
    constant LAST_INDEX : unsigned(index'range) := (others => '1');
  begin
    if rising_edge(aclk) then
      if m_axis_tready = '1' then
        valid <= '0';
      end if;
      if s_axis_tvalid = '1' and room = '1' then
        index <= index + 1;
        if state = TAKE_A then
          kept(to_integer(index)) <= unsigned(s_axis_tdata);
          if index = LAST_INDEX then
            state <= TAKE_B;
          end if;
        else
          sum   <= kept(to_integer(index)) + unsigned(s_axis_tdata);
          valid <= '1';
          last  <= '0';
          if index = LAST_INDEX then
            last  <= '1';
            state <= TAKE_A;
          end if;
        end if;
      end if;
      if aresetn = '0' then
        state <= TAKE_A;
        index <= (others => '0');
        valid <= '0';
        last  <= '0';
      end if;
    end if;
  end process;
end architecture;
